"""Numbers about the broker, for /metrics."""

from prometheus_client import Counter

REQUESTS = Counter("scheduler_broker_requests_total", "Requests that the broker answered.", ["operation", "status"])

"""Numbers about the ticker, for /metrics."""

from prometheus_client import Counter, Gauge

PLANNED = Counter("scheduler_ticker_plans_total", "Due schedules that were planned.")
CREATED = Counter("scheduler_ticker_executions_created_total", "Executions that planning created.")
PUBLISHED = Counter("scheduler_relay_published_total", "Messages that the queue confirmed.")
REPUBLISHED = Counter("scheduler_relay_presumed_lost_total", "Rows that are published again.")
READY = Gauge("scheduler_queue_ready_messages", "Messages that wait in the queue.", ["kind"])
RESCUED = Counter("scheduler_rescued_total", "Runs that rescue settled.", ["action"])
NEEDS_REVIEW = Gauge("scheduler_schedules_needing_review", "Schedules that somebody has to look at.")

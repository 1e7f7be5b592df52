"""Every request leaves a log line and numbers, and carries an id that ties its log lines together."""

import logging
import re
import time

from flask import Flask, Response, g, request
from prometheus_client import Counter, Histogram

from scheduler.domain.guids import new_guid
from scheduler.runtime.logs import forget_ids, keep_ids

_log = logging.getLogger(__name__)

REQUEST_ID = "X-Request-Id"
_TAKEN_OVER = (REQUEST_ID, "X-Vcap-Request-Id")  # the latter is what Cloud Foundry's router sends
_USABLE_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}", re.ASCII)

_REQUESTS = Counter("scheduler_api_requests", "Requests that were answered.", ["method", "route", "status"])
_SECONDS = Histogram("scheduler_api_request_seconds", "How long answers took.", ["method", "route"])


def observe(app: Flask) -> None:
    """Watch the requests to `app`."""
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    g.began = time.perf_counter()
    sent = (request.headers.get(name, "") for name in _TAKEN_OVER)
    g.request_id = next((value for value in sent if _USABLE_ID.fullmatch(value)), None) or str(new_guid())
    keep_ids(request_id=g.request_id)


def _end(response: Response) -> Response:
    seconds = time.perf_counter() - g.began
    route = str(request.url_rule) if request.url_rule else "none"
    _REQUESTS.labels(request.method, route, response.status_code).inc()
    _SECONDS.labels(request.method, route).observe(seconds)
    _log.log(
        logging.DEBUG if request.path == "/" else logging.INFO,
        f"{request.method} {route} was answered with {response.status_code}.",
        extra={
            "action": request.endpoint or "no_route",
            "status": response.status_code,
            "duration_ms": round(seconds * 1_000, 1),
            "caller": getattr(g.get("caller"), "user_guid", None),
            **{f"path_{name}": str(value) for name, value in (request.view_args or {}).items()},
        },
    )
    response.headers[REQUEST_ID] = g.request_id
    forget_ids()
    return response

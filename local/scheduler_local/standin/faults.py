"""Faults on demand: what a test wants to go wrong, for which requests, how many times."""

import json
import re
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from flask import Request, Response

_ROUTER = {"X-Cf-RouterError": "unknown_route"}


@dataclass(kw_only=True)
class Fault:
    """Strikes requests with this method whose path and query contain the expression `path`."""

    kind: str
    method: str = ""
    path: str = ""
    skip: int = 0  # so many matching requests pass unharmed first
    count: int | None = None  # strikes left; None: until cleared
    after: bool = False  # the work is done, and then the answer is replaced, delayed or cut
    seconds: float = 0.0
    retry_after: str | None = None
    status: int = 500  # this and the following for the kind "status"
    body: str = ""
    content_type: str = "text/plain"
    headers: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.kind not in {"slow", "cut", "status", *_ANSWERS}:
            raise ValueError(f"unknown kind of fault: {self.kind}")
        re.compile(self.path)

    def matches(self, request: Request) -> bool:
        """Tell whether the fault is about this request."""
        return self.method in {"", request.method} and re.search(self.path, request.full_path) is not None

    def strike(self, request: Request) -> Response | None:
        """Do the harm; return the answer that replaces the real one, if there is one."""
        if self.kind == "slow":
            time.sleep(self.seconds)
            return None
        if self.kind == "cut":
            return _cut(request)
        return self._answer()

    def _answer(self) -> Response:
        status, content_type, body, headers = _ANSWERS.get(
            self.kind, (self.status, self.content_type, self.body, self.headers)
        )
        answer = Response(body, status=status, content_type=content_type, headers=headers)
        if self.retry_after is not None:
            answer.headers["Retry-After"] = self.retry_after
        return answer


class Faults:
    """The faults in force. Of several that match a request the one set first strikes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        """Put a fault in force."""
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        """Let nothing go wrong any more."""
        with self._lock:
            self._faults.clear()

    def take(self, request: Request) -> Fault | None:
        """Return the fault that strikes this request, and count the strike."""
        with self._lock:
            for fault in self._faults:
                if fault.matches(request):
                    if fault.skip > 0:
                        fault.skip -= 1
                        continue
                    self._use_up(fault)
                    return fault
        return None

    def _use_up(self, fault: Fault) -> None:
        if fault.count is not None:
            fault.count -= 1
            if fault.count <= 0:
                self._faults.remove(fault)


def _cut(request: Request) -> Response:
    connection: Any = request.environ["gunicorn.socket"]
    connection.shutdown(socket.SHUT_RDWR)
    return Response(status=500)  # goes nowhere


def _error(code: int, title: str, detail: str) -> str:
    return json.dumps({"errors": [{"code": code, "title": title, "detail": detail}]})


# Status, content type, body, headers; each as observed in front of or at a real Cloud Controller.
_ANSWERS: dict[str, tuple[int, str, str, dict[str, str]]] = {
    "rate_limited": (
        429,
        "text/plain",
        _error(10013, "CF-RateLimitExceeded", "Rate Limit Exceeded"),
        {"X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "0"},
    ),
    "unavailable": (
        503,
        "application/json; charset=utf-8",
        _error(170020, "CF-TaskWorkersUnavailable", "Task workers are unavailable: Failed to open TCP connection"),
        {},
    ),
    "router_503": (
        503,
        "text/plain; charset=utf-8",
        "503 Service Unavailable: Requested route has no available endpoints.\n",
        {"X-Cf-RouterError": "no_endpoints"},
    ),
    "bad_gateway": (
        502,
        "text/plain; charset=utf-8",
        "502 Bad Gateway: Registered endpoint failed to handle the request.\n",
        {"X-Cf-RouterError": "endpoint_failure"},
    ),
    "gateway_timeout": (504, "text/html", "<html><h1>504 Gateway Time-out</h1></html>", {}),
    "router_404": (
        404,
        "text/plain; charset=utf-8",
        "404 Not Found: Requested route ('api.sys.example.com') does not exist.\n",
        _ROUTER,
    ),
    "unknown_route": (
        404,
        "application/json; charset=utf-8",
        _error(10000, "CF-NotFound", "Unknown request"),
        {},
    ),
    "invalid_token": (
        401,
        "application/json; charset=utf-8",
        _error(1000, "CF-InvalidAuthToken", "Invalid Auth Token"),
        {},
    ),
    "forbidden": (
        403,
        "application/json; charset=utf-8",
        _error(10003, "CF-NotAuthorized", "You are not authorized to perform the requested action"),
        {},
    ),
    "server_error": (
        500,
        "application/json; charset=utf-8",
        _error(10001, "UnknownError", "An unknown error occurred."),
        {},
    ),
    "not_json": (200, "text/html", "<html>maintenance</html>", {}),
}

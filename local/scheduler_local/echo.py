"""`python -m scheduler_local.echo`: an endpoint for calls to reach, which shows what arrived.

GET /             the latest requests, the newest last, and how many there were; DELETE / forgets them
/fast             204 and nothing more, for measuring; counted but not kept
/status/503       kept, and answered with that status
anything else     kept, and answered with 200
"""

import argparse
import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from scheduler_local.standin.serving import serve

_KEPT = 2_000
_BODY_BYTES = 65_536
_STATUS_PATH = re.compile(r"/status/([1-5]\d\d)")
_PHRASES = {status.value: status.phrase for status in HTTPStatus}

StartResponse = Callable[[str, list[tuple[str, str]]], Any]


class Echo:
    """The endpoint, without a framework: it must never be what a measurement measures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[dict[str, Any]] = deque(maxlen=_KEPT)
        self._count = 0

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request (WSGI)."""
        path, method = environ["PATH_INFO"], environ["REQUEST_METHOD"]
        if path == "/fast":
            self._note(None)
            start_response("204 No Content", [])
            return []
        if path == "/" and method == "GET":
            return _json(start_response, 200, self._show())
        if path == "/" and method == "DELETE":
            self._forget()
            return _json(start_response, 200, {})
        self._note(_read(environ))
        asked = _STATUS_PATH.fullmatch(path)
        return _json(start_response, int(asked[1]) if asked else 200, {"arrived": True})

    def _note(self, request: dict[str, Any] | None) -> None:
        with self._lock:
            self._count += 1
            if request is not None:
                self._kept.append(request)

    def _show(self) -> dict[str, Any]:
        with self._lock:
            return {"count": self._count, "requests": list(self._kept)}

    def _forget(self) -> None:
        with self._lock:
            self._kept.clear()
            self._count = 0


def _read(environ: dict[str, Any]) -> dict[str, Any]:
    headers = {name[5:].replace("_", "-").title(): value for name, value in environ.items() if name.startswith("HTTP_")}
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if environ.get(name):
            headers[name.replace("_", "-").title()] = environ[name]
    return {
        "at": time.time(),
        "method": environ["REQUEST_METHOD"],
        "path": environ["PATH_INFO"],
        "query": environ.get("QUERY_STRING", ""),
        "headers": headers,
        "body": environ["wsgi.input"].read(_BODY_BYTES).decode(errors="replace"),
    }


def _json(start_response: StartResponse, status: int, value: Any) -> list[bytes]:
    body = json.dumps(value, indent=2).encode() + b"\n"
    has_body = status >= 200 and status not in {204, 304}
    phrase = _PHRASES.get(status, "Status")
    headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))] if has_body else []
    start_response(f"{status} {phrase}", headers)
    return [body] if has_body else []


def main() -> None:
    """Serve until told to stop."""
    parser = argparse.ArgumentParser(prog="python -m scheduler_local.echo", description=__doc__.splitlines()[0])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8003, help="0: any free one")
    parser.add_argument("--fd", type=int, help="a listening socket to serve on instead")
    given = parser.parse_args()
    bind = f"{given.host}:{given.port}" if given.fd is None else f"fd://{given.fd}"
    serve(lambda: (Echo(), lambda: None), name="Echo", bind=bind)


if __name__ == "__main__":
    main()

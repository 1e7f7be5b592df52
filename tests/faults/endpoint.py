"""The endpoint that calls go to, as a process: `python -m tests.faults.endpoint` prints its port.

POST /work/MILLISECONDS takes that long; /flaky/MILLISECONDS answers 503 to every third attempt besides. It notes each
request and misbehaves as POST /_mood {"kind": "slow"|"failing"|"cutting"|"", "seconds": S} says; GET /_hits returns
what arrived since the number in `?from=`.
"""

import json
import socket
import threading
import time
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.faults.moments import now


class Diary:
    """What arrived, and the present mood."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.hits: list[dict[str, Any]] = []
        self.mood: dict[str, Any] = {"kind": ""}

    def begin(self, headers: Any, path: str) -> dict[str, Any]:
        """Note a request."""
        hit = {
            "execution": headers.get("X-Scheduler-Execution-Guid", ""),
            "schedule": headers.get("X-Scheduler-Schedule-Guid") or None,
            "attempt": int(headers.get("X-Scheduler-Attempt") or 0),
            "path": path,
            "arrived": now(),
            "done": None,
            "status": None,
        }
        with self._lock:
            self.hits.append(hit)
        return hit


class Handler(BaseHTTPRequestHandler):
    """Answers on kept connections."""

    protocol_version = "HTTP/1.1"
    server: "Endpoint"

    def do_GET(self) -> None:
        """Return what arrived."""
        first = int(self.path.partition("from=")[2] or 0)
        self._answer(200, json.dumps(self.server.diary.hits[first:]).encode())

    def do_POST(self) -> None:
        """Work, or change the mood."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/_mood":
            self.server.diary.mood = json.loads(body)
            self._answer(200, b"{}")
            return
        self._work()

    def _work(self) -> None:
        diary = self.server.diary
        hit, mood = diary.begin(self.headers, self.path), diary.mood
        _, behaviour, milliseconds = self.path.split("/")
        time.sleep(int(milliseconds) / 1_000 + (mood["seconds"] if mood["kind"] == "slow" else 0.0))
        hit["done"] = now()
        if mood["kind"] == "cutting":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        fails = mood["kind"] == "failing" or (behaviour == "flaky" and _every_third(hit))
        hit["status"] = 503 if fails else 200
        self._answer(hit["status"], b"{}")

    def _answer(self, status: int, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the library's name
        """Say nothing."""


def _every_third(hit: dict[str, Any]) -> bool:
    return zlib.crc32(f"{hit['execution']}/{hit['attempt']}".encode()) % 3 == 0


class Endpoint(ThreadingHTTPServer):
    """A thread for each connection."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.diary = Diary()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are what this is about."""


if __name__ == "__main__":
    endpoint = Endpoint()
    print(endpoint.server_port, flush=True)  # noqa: T201
    endpoint.serve_forever()

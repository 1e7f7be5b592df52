"""The internal port: /healthz (alive), /readyz (able to work), /metrics, and what a service adds."""

import json
import logging
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import REGISTRY, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

_log = logging.getLogger(__name__)

Answer = tuple[int, str, bytes]
Check = Callable[[], str | None]  # returns what is wrong, None when nothing is


def serve_admin(
    port: int,
    *,
    checks: Mapping[str, Check],
    pages: Mapping[str, Callable[[], Answer]] | None = None,
) -> ThreadingHTTPServer:
    """Answer on `port` (0: any free one) from a thread of its own; raises OSError when the port is taken."""
    routes: dict[str, Callable[[], Answer]] = {
        "/healthz": lambda: (200, "application/json", b'{"status":"ok"}'),
        "/readyz": lambda: _readiness(checks),
        "/metrics": lambda: (200, CONTENT_TYPE_LATEST, generate_latest(REGISTRY)),
        **(pages or {}),
    }
    server = ThreadingHTTPServer(("", port), _handler(routes))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="admin", daemon=True).start()
    return server


def _readiness(checks: Mapping[str, Check]) -> Answer:
    faults = {name: fault for name, check in checks.items() if (fault := _run(check)) is not None}
    body = {"status": "unready" if faults else "ready", **({"faults": faults} if faults else {})}
    return (503 if faults else 200, "application/json", json.dumps(body).encode())


def _run(check: Check) -> str | None:
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - a check that fails is a finding, not a fault of this page
        return type(error).__name__


def _handler(routes: Mapping[str, Callable[[], Answer]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10  # a client that says nothing does not keep a thread

        def do_GET(self) -> None:
            route = routes.get(self.path.split("?", 1)[0])
            status, kind, body = route() if route else (404, "application/json", b'{"status":"not found"}')
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
            _log.debug(format % args, extra={"action": "admin_request"})

    return Handler

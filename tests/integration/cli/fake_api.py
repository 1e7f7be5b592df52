"""A small scheduler API over real HTTP with canned answers; it remembers what it was asked."""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Canned:
    """An answer to give."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class FakeApi:
    """Answers by method and path; several answers for one are given in turn, the last one again and again."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    cut_next: int = 0  # connections to cut before an answer
    _canned: dict[tuple[str, str], list[Canned]] = field(default_factory=dict)

    def answer(
        self,
        method: str,
        path: str,
        content: Any = None,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Answer with JSON, with bytes as they are, or (None) with nothing."""
        body = b"" if content is None else content if isinstance(content, bytes) else json.dumps(content).encode()
        self._canned.setdefault((method, path), []).append(Canned(status=status, body=body, headers=headers or {}))

    def answer_rows(self, path: str, *rows: Mapping[str, Any]) -> None:
        """Answer a GET with a collection of one page, as the reference has it."""
        self.answer("GET", path, collection(*rows))

    def last(self) -> Asked:
        return self.asked[-1]

    def take(self, method: str, path: str) -> Canned:
        canned = self._canned.get((method, path))
        if canned is None:
            return Canned(status=404, body=json.dumps(refusal("not_found", "there is no such thing")).encode())
        return canned.pop(0) if len(canned) > 1 else canned[0]


def collection(*rows: Mapping[str, Any], **pagination: Any) -> dict[str, Any]:
    """Return the envelope of a collection."""
    links = {name: {"href": name} for name in ("first", "last", "next", "previous")}
    return {
        "pagination": {"total_pages": 1, "total_results": len(rows), **links, **pagination},
        "resources": list(rows),
    }


def refusal(code: str, message: str, **more: Any) -> dict[str, Any]:
    """Return the body of an error."""
    return {"errors": [{"code": code, "message": message, **more}], "warnings": []}


def secured(certificate: Path) -> AbstractContextManager[FakeApi]:
    """Run a fake API behind TLS with this certificate and key."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return serving(context)


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[FakeApi]:
    """Run a fake API on a free port."""
    api = FakeApi()
    server = _Server(("127.0.0.1", 0), _handler(api))
    api.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that break off are what some tests are about."""


def _handler(api: FakeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            if api.cut_next:
                api.cut_next -= 1
                self._cut()
                return
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            api.asked.append(
                Asked(
                    method=self.command,
                    path=parts.path,
                    query=dict(parse_qsl(parts.query)),
                    headers=dict(self.headers),
                    body=body,
                )
            )
            canned = api.take(self.command, parts.path)
            self.send_response(canned.status)
            for name, value in {"Content-Type": "application/json", **canned.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(canned.body)))
            self.end_headers()
            self.wfile.write(canned.body)

        def _cut(self) -> None:
            # A reset instead of an orderly end, as from a router whose back end has died.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.rfile.close()
            self.wfile.close()
            self.connection.close()

        do_GET = do_POST = do_PATCH = do_DELETE = answer  # noqa: N815 - the base class's names

        def log_message(self, *_: Any) -> None:
            pass

    return Handler

"""An HTTP endpoint without manners: what it does with a connection is up to the test."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

Behaviour = Callable[["RawEndpoint", socket.socket], None]

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class RawEndpoint:
    """Listens on a port of its own, one thread for each connection."""

    behave: Behaviour
    tls: ssl.SSLContext | None = None
    connections: int = 0
    requests: list[Received] = field(default_factory=list)
    _open: list[socket.socket] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._thread.join()

    def receive(self, connection: socket.socket) -> Received | None:
        """Read one request, None when the client hangs up."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            piece = connection.recv(1)
            if not piece:
                return None
            head += piece
        line, *rest = head.decode().split("\r\n")[:-2]
        headers = {name.lower(): value for name, value in (header.split(": ", 1) for header in rest)}
        length = int(headers.get("content-length", 0))
        body = b""
        while len(body) < length and (piece := connection.recv(length - len(body))):
            body += piece
        received = Received(line, headers, body)
        self.requests.append(received)
        return received

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ssl.SSLError):
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
                self._open.append(connection)
            self.behave(self, connection)
        with contextlib.suppress(OSError):
            connection.close()

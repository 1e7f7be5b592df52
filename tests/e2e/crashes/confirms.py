"""A way to RabbitMQ on which messages arrive and confirms get lost."""

import contextlib
import socket
import struct
import threading
from urllib.parse import urlsplit, urlunsplit

_METHOD = 1
_BASIC_ACK = (60, 80)
_HEAD = struct.Struct(">BHI")  # type, channel, size; the payload and an end byte follow


class ConfirmSwallower:
    """Passes everything on, except what RabbitMQ says about published messages, while `swallowing`."""

    def __init__(self, amqp_url: str) -> None:
        parts = urlsplit(amqp_url)
        assert parts.hostname is not None
        self._target = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.swallowing = threading.Event()
        self.swallowed = threading.Event()
        user = parts.netloc.rpartition("@")[0]
        port = self._listener.getsockname()[1]
        self.url = urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{port}"))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._target)
                self._open += [client, server]
                threading.Thread(target=self._pass_on, args=(client, server), daemon=True).start()
                threading.Thread(target=self._pass_back, args=(server, client), daemon=True).start()

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65_536):
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)

    def _pass_back(self, server: socket.socket, client: socket.socket) -> None:
        with contextlib.suppress(OSError), server.makefile("rb") as stream:
            while head := stream.read(_HEAD.size):
                kind, _, size = _HEAD.unpack(head)
                rest = stream.read(size + 1)
                if self.swallowing.is_set() and kind == _METHOD and struct.unpack(">HH", rest[:4]) == _BASIC_ACK:
                    self.swallowed.set()
                else:
                    client.sendall(head + rest)
            client.shutdown(socket.SHUT_RDWR)

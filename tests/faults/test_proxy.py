"""The proxy between services and servers does to connections what networks do."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.faults.proxy import Proxy


@pytest.fixture
def echo_port() -> Iterator[int]:
    """A server that sends back what it gets."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = server.accept()
                threading.Thread(target=_echo, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()


def _echo(connection: socket.socket) -> None:
    with connection, suppress(OSError):
        while data := connection.recv(100):
            connection.sendall(data)


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    proxy = Proxy()
    yield proxy
    proxy.close()


@pytest.fixture
def client(proxy: Proxy, echo_port: int) -> Iterator[socket.socket]:
    port = proxy.open("runner > endpoint", echo_port)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
        assert _ask(client) == b"hello"
        yield client


def _ask(client: socket.socket) -> bytes:
    client.sendall(b"hello")
    return client.recv(100)


def test_a_cut_connection_is_reset_and_new_ones_are_refused_until_healed(proxy: Proxy, client: socket.socket) -> None:
    address = client.getpeername()
    proxy.cut("runner > endpoint", refuse=True)
    with pytest.raises(ConnectionResetError):
        client.recv(1)
    with pytest.raises(ConnectionResetError), socket.create_connection(address, timeout=10) as refused:
        refused.recv(1)
    proxy.heal("runner > endpoint")
    with socket.create_connection(address, timeout=10) as anew:
        assert _ask(anew) == b"hello"


@pytest.mark.parametrize("direction", ["forth", "back"])
def test_a_silent_direction_holds_what_is_sent_and_delivers_it_late(
    proxy: Proxy, client: socket.socket, direction: str
) -> None:
    proxy.silence("runner > endpoint", forth=direction == "forth", back=direction == "back")
    client.sendall(b"late")
    client.settimeout(0.2)
    with pytest.raises(TimeoutError):
        client.recv(100)
    proxy.heal("runner > endpoint")
    client.settimeout(10)
    assert client.recv(100) == b"late"


def test_a_delayed_link_takes_its_time(proxy: Proxy, client: socket.socket) -> None:
    proxy.delay("runner > endpoint", 0.1)
    started_at = time.monotonic()
    assert _ask(client) == b"hello"
    assert time.monotonic() - started_at >= 0.2

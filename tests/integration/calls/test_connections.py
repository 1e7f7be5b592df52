"""Where connections lead, whom they trust, and how long they are kept."""

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from scheduler.domain.claims import Finish, Outcome
from scheduler.domain.states import ExecutionState, Reason
from scheduler_call_runner import resolving
from scheduler_call_runner.connecting import Dialer
from scheduler_call_runner.exchange import Exchange
from scheduler_call_runner.idle import IdleConnections
from scheduler_call_runner.networks import Networks
from scheduler_call_runner.resolving import Address, Resolver
from tests.fixtures.raw_endpoints import ANSWER, RawEndpoint, Serve
from tests.integration.calls.conftest import LOOPBACK, Attempt, Authority

Through = Callable[..., Exchange]


@pytest.fixture
def through() -> Iterator[Through]:
    """`through(dialer)`: connections made by this dialer."""
    opened: list[IdleConnections] = []

    def make(dialer: Dialer) -> Exchange:
        opened.append(IdleConnections(limit=10))
        return Exchange(dialer, opened[-1])

    yield make
    for idle in opened:
        idle.close()


def _names(**names: list[str]) -> Resolver:
    """Resolve these names, and no others."""

    def look_up(host: str, port: int) -> list[Address]:
        if host not in names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, (address, port)) for address in names[host]]

    return Resolver(look_up)


def _expect(outcome: Outcome, state: ExecutionState, reason: Reason | None = None) -> Finish:
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.reason) == (state, reason), outcome
    return outcome


def test_a_name_that_resolves_to_a_denied_address_is_refused(serve: Serve, attempt: Attempt, through: Through) -> None:
    endpoint = serve()
    dialer = Dialer(Networks(), _names(inside=["127.0.0.1"]))
    outcome = attempt(f"http://inside:{endpoint.port}/", through=through(dialer))
    outcome = _expect(outcome, ExecutionState.FAILED, Reason.DENIED)
    assert outcome.message == f"inside:{endpoint.port} is in a network that calls must not reach"
    assert endpoint.connections == 0


def test_of_several_addresses_only_permitted_ones_are_tried(serve: Serve, attempt: Attempt, through: Through) -> None:
    endpoint = serve()
    networks = Networks(denied=[ipaddress.ip_network("127.0.0.2/32")])
    dialer = Dialer(networks, _names(both=["127.0.0.2", "127.0.0.1"]))
    _expect(attempt(f"http://both:{endpoint.port}/", through=through(dialer)), ExecutionState.SUCCEEDED)


def test_an_address_that_refuses_is_followed_by_the_next(serve: Serve, attempt: Attempt, through: Through) -> None:
    endpoint = serve()
    dialer = Dialer(Networks(allowed=LOOPBACK), _names(both=["127.0.0.3", "127.0.0.1"]))
    _expect(attempt(f"http://both:{endpoint.port}/", through=through(dialer)), ExecutionState.SUCCEEDED)


def test_a_name_that_does_not_exist_is_said_so(attempt: Attempt, through: Through) -> None:
    dialer = Dialer(Networks(), _names())
    outcome = attempt("http://nowhere.example/", through=through(dialer))
    outcome = _expect(outcome, ExecutionState.FAILED, Reason.CONNECT_ERROR)
    assert outcome.message == "the name nowhere.example does not resolve: Name or service not known"


@pytest.mark.parametrize("host", ["x" * 64, f"{'x' * 64}.example", "..", ".example", "a..b"])
def test_what_can_be_no_name_is_said_so(attempt: Attempt, host: str) -> None:
    for scheme in ("http", "https"):
        outcome = _expect(attempt(f"{scheme}://{host}/"), ExecutionState.FAILED, Reason.BAD_REQUEST)
        assert outcome.message == "the host in the URL can be no name"


def test_a_resolver_that_hangs_keeps_one_thread_and_no_call(serve: Serve, attempt: Attempt, through: Through) -> None:
    endpoint, release, asked = serve(), threading.Event(), []

    def look_up(host: str, port: int) -> list[Address]:
        asked.append(host)
        if host == "hanging":
            release.wait(30)
        return [(socket.AF_INET, ("127.0.0.1", port))]

    exchange = through(Dialer(Networks(allowed=LOOPBACK), Resolver(look_up)))
    begun = time.monotonic()
    outcomes = [attempt("http://hanging/", through=exchange, connect_timeout_seconds=0.2) for _ in range(3)]
    assert time.monotonic() - begun < 4
    for outcome in outcomes:
        assert _expect(outcome, ExecutionState.FAILED, Reason.CONNECT_ERROR).message.endswith("it took too long")
    _expect(attempt(f"http://fine:{endpoint.port}/", through=exchange), ExecutionState.SUCCEEDED)
    assert asked == ["hanging", "fine"]
    release.set()


def test_a_resolver_that_hangs_on_many_names_is_not_asked_about_more(
    attempt: Attempt, through: Through, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolving, "MAX_LOOKUPS", 2)
    release = threading.Event()

    def look_up(_host: str, _port: int) -> list[Address]:
        release.wait(30)
        return []

    exchange = through(Dialer(Networks(), Resolver(look_up)))
    outcomes = [attempt(f"http://name-{n}/", through=exchange, connect_timeout_seconds=0.1) for n in range(3)]
    release.set()
    messages = [_expect(outcome, ExecutionState.FAILED, Reason.CONNECT_ERROR).message for outcome in outcomes]
    assert [message.endswith("it took too long") for message in messages] == [True, True, False]
    assert messages[2] == "too many name look-ups are waiting for an answer"


def test_a_trusted_certificate_for_the_right_host_is_accepted(
    serve: Serve, attempt: Attempt, through: Through, authority: Authority
) -> None:
    endpoint = serve(tls=authority.server())
    exchange = through(Dialer(Networks(allowed=LOOPBACK), Resolver(), authority.trusting()))
    for _ in range(2):
        _expect(attempt(endpoint.url, through=exchange), ExecutionState.SUCCEEDED)
    assert endpoint.connections == 1


def test_an_unknown_authority_is_not_trusted(serve: Serve, attempt: Attempt, authority: Authority) -> None:
    endpoint = serve(tls=authority.server())
    outcome = _expect(attempt(endpoint.url), ExecutionState.FAILED, Reason.CONNECT_ERROR)
    assert "TLS: the certificate is not accepted (" in outcome.message
    assert endpoint.requests == []


def test_a_certificate_for_another_host_is_not_accepted(
    serve: Serve, attempt: Attempt, through: Through, authority: Authority
) -> None:
    endpoint = serve(tls=authority.server("127.0.0.99"))
    exchange = through(Dialer(Networks(allowed=LOOPBACK), Resolver(), authority.trusting()))
    outcome = _expect(attempt(endpoint.url, through=exchange), ExecutionState.FAILED, Reason.CONNECT_ERROR)
    assert "certificate is not valid for '127.0.0.1'" in outcome.message


def test_an_endpoint_that_does_not_speak_tls_is_said_so(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve(answer=b"HTTP/1.1 400 Bad Request\r\n\r\n")
    endpoint.behave = lambda _endpoint, connection: connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    outcome = attempt(endpoint.url.replace("http:", "https:"))
    assert "TLS: " in _expect(outcome, ExecutionState.FAILED, Reason.CONNECT_ERROR).message


def test_a_handshake_that_never_ends_is_given_up(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve(lambda _endpoint, connection: _swallow(connection))
    begun = time.monotonic()
    outcome = attempt(endpoint.url.replace("http:", "https:"), connect_timeout_seconds=0.5)
    assert time.monotonic() - begun < 3
    assert "it took too long" in _expect(outcome, ExecutionState.FAILED, Reason.CONNECT_ERROR).message


def _swallow(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def test_a_connection_is_used_again(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve()
    for _ in range(3):
        _expect(attempt(endpoint.url), ExecutionState.SUCCEEDED)
    assert endpoint.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + b"x" * 100_000,
    ],
)
def test_a_connection_that_is_to_be_closed_or_was_not_read_to_its_end_is_not_used_again(
    serve: Serve, attempt: Attempt, answer: bytes
) -> None:
    endpoint = serve(answer=answer)
    for _ in range(2):
        _expect(attempt(endpoint.url), ExecutionState.SUCCEEDED)
    assert endpoint.connections == 2


def test_a_connection_that_the_endpoint_has_closed_meanwhile_is_not_used(serve: Serve, attempt: Attempt) -> None:
    closed = threading.Event()

    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        if endpoint.receive(connection):
            connection.sendall(ANSWER)
            connection.close()
            closed.set()

    endpoint = serve(behave)
    for _ in range(3):
        _expect(attempt(endpoint.url), ExecutionState.SUCCEEDED)
        assert closed.wait(5)
        closed.clear()
    assert len(endpoint.requests) == 3


def test_a_request_on_a_connection_that_dies_under_it_is_not_sent_twice(serve: Serve, attempt: Attempt) -> None:
    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        if endpoint.receive(connection):
            connection.sendall(ANSWER)
            endpoint.receive(connection)

    endpoint = serve(behave)
    _expect(attempt(endpoint.url), ExecutionState.SUCCEEDED)
    outcome = _expect(attempt(endpoint.url), ExecutionState.FAILED, Reason.CONNECT_ERROR)
    assert "it may have processed the request" in outcome.message
    assert len(endpoint.requests) == 2


def test_idle_connections_are_closed_soon(serve: Serve, attempt: Attempt, exchange: Exchange) -> None:
    ended = threading.Event()

    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        while endpoint.receive(connection):
            connection.sendall(ANSWER)
        ended.set()

    attempt(serve(behave).url)
    deadline = time.monotonic() + 10
    while not ended.wait(0.1) and time.monotonic() < deadline:
        exchange.idle.sweep()
    assert ended.is_set()


def test_no_more_connections_are_kept_than_the_limit(serve: Serve, attempt: Attempt, through: Through) -> None:
    exchange = through(Dialer(Networks(allowed=LOOPBACK), Resolver()))
    endpoints = [serve() for _ in range(12)]
    for endpoint in endpoints:
        attempt(endpoint.url, through=exchange)
    for endpoint in reversed(endpoints):
        attempt(endpoint.url, through=exchange)
    assert [endpoint.connections for endpoint in endpoints] == [2, 2, *[1] * 10]

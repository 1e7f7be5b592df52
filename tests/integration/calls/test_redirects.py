"""Redirects: followed as far as the call allows, never into a denied network, never with secrets to a stranger."""

import itertools
import socket
from collections.abc import Callable

import pytest

from scheduler.domain.claims import Finish, Outcome
from scheduler.domain.states import ExecutionState, Reason
from scheduler_call_runner.connecting import Dialer
from scheduler_call_runner.exchange import Exchange
from scheduler_call_runner.idle import IdleConnections
from scheduler_call_runner.networks import Networks
from scheduler_call_runner.resolving import Resolver
from tests.fixtures.raw_endpoints import ANSWER, RawEndpoint, Serve
from tests.integration.calls.conftest import LOOPBACK, Attempt, Authority


def _redirect(location: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


def _redirecting_once(location: str, status: int = 302) -> Callable[[RawEndpoint, socket.socket], None]:
    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        answers = iter([_redirect(location, status)])
        while endpoint.receive(connection):
            connection.sendall(next(answers, ANSWER))

    return behave


def _expect(outcome: Outcome, state: ExecutionState, reason: Reason | None = None) -> Finish:
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.reason) == (state, reason), outcome
    return outcome


def test_a_relative_redirect_is_followed_with_the_authorization(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve(_redirecting_once("../there?y=2", 307))
    _expect(attempt(f"{endpoint.url}/a/b?x=1"), ExecutionState.SUCCEEDED)
    first, second = endpoint.requests
    assert (first.line, second.line) == ("POST /a/b?x=1 HTTP/1.1", "POST /there?y=2 HTTP/1.1")
    assert second.headers["authorization"] == "basic c2VjcmV0"
    assert endpoint.connections == 1


@pytest.mark.parametrize(
    ("status", "method", "expected"),
    [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"),
        (301, "PUT", "PUT"),
        (302, "DELETE", "DELETE"),
        (307, "POST", "POST"),
        (308, "PATCH", "PATCH"),
    ],
)
def test_the_status_decides_about_method_and_body(
    serve: Serve, attempt: Attempt, status: int, method: str, expected: str
) -> None:
    endpoint = serve(_redirecting_once("/there", status))
    body = "" if method == "HEAD" else "payload"
    attempt(endpoint.url, method=method, body=body, headers={"Content-Type": "text/plain"})
    _, second = endpoint.requests
    assert second.line == f"{expected} /there HTTP/1.1"
    keeps_body = expected == method != "HEAD"
    assert second.body == (b"payload" if keeps_body else b"")
    assert ("content-type" in second.headers) is keeps_body


def test_secrets_do_not_follow_to_another_origin(serve: Serve, attempt: Attempt) -> None:
    stranger = serve()
    endpoint = serve(answer=_redirect(f"{stranger.url}/there", 307))
    attempt(
        endpoint.url,
        headers={"X-Api-Key": "s3cret", "Cookie": "s3cret", "Content-Type": "text/plain"},
        body="payload",
    )
    (request,) = stranger.requests
    assert "authorization" not in request.headers
    assert "s3cret" not in str(request)
    assert request.headers["content-type"] == "text/plain"
    assert request.headers["x-scheduler-execution-guid"] == endpoint.requests[0].headers["x-scheduler-execution-guid"]


def test_secrets_that_were_left_behind_are_not_found_again(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve()
    stranger = serve(answer=_redirect(f"{endpoint.url}/back", 307))
    endpoint.behave = _redirecting_once(f"{stranger.url}/there", 307)
    attempt(endpoint.url)
    assert [("authorization" in request.headers) for request in endpoint.requests] == [True, False]


def test_a_loop_ends(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve(answer=_redirect("/again"))
    outcome = _expect(attempt(endpoint.url), ExecutionState.FAILED, Reason.TOO_MANY_REDIRECTS)
    assert outcome.message == "more than 5 redirects"
    assert len(endpoint.requests) == 6


def test_a_chain_of_fifty_is_followed_only_as_far_as_the_call_allows(serve: Serve, attempt: Attempt) -> None:
    numbers = itertools.count(1)

    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        while endpoint.receive(connection):
            number = next(numbers)
            connection.sendall(_redirect(f"/{number}") if number <= 50 else ANSWER)

    endpoint = serve(behave)
    _expect(attempt(endpoint.url, follow_redirects=20), ExecutionState.FAILED, Reason.TOO_MANY_REDIRECTS)
    assert len(endpoint.requests) == 21


def test_a_call_that_follows_no_redirects_gets_the_status(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve(answer=_redirect("/there", 301))
    outcome = _expect(attempt(endpoint.url, follow_redirects=0), ExecutionState.FAILED, Reason.HTTP_STATUS)
    assert outcome.http_status == 301


def test_a_redirect_that_counts_as_a_success_is_not_followed(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve(answer=_redirect("/there", 302))
    _expect(attempt(endpoint.url, success_statuses=("2xx", "302")), ExecutionState.SUCCEEDED)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://[::1]:1/",
        "http://0.0.0.0:1/",
        "http://[fe80::1]/",
        "http://2852039166/",  # 169.254.169.254 as one number
    ],
)
def test_a_redirect_leads_into_no_denied_network(serve: Serve, attempt: Attempt, location: str) -> None:
    endpoint = serve(answer=_redirect(location))
    outcome = _expect(attempt(endpoint.url), ExecutionState.FAILED, Reason.DENIED)
    assert outcome.message.endswith("is in a network that calls must not reach")


@pytest.mark.parametrize(
    "location", ["ftp://127.0.0.1/", "file:///etc/passwd", "gopher://x/", "http://[", "javascript:1"]
)
def test_a_redirect_to_anything_but_http_is_refused(serve: Serve, attempt: Attempt, location: str) -> None:
    endpoint = serve(answer=_redirect(location))
    outcome = _expect(attempt(endpoint.url), ExecutionState.FAILED, Reason.BAD_REQUEST)
    assert "no http or https URL" in outcome.message


def test_a_redirect_from_https_to_http_is_refused(serve: Serve, attempt: Attempt, authority: Authority) -> None:
    plain = serve()
    endpoint = serve(answer=_redirect(plain.url), tls=authority.server())
    idle = IdleConnections(limit=1)
    through = Exchange(Dialer(Networks(allowed=LOOPBACK), Resolver(), authority.trusting()), idle)
    outcome = _expect(attempt(endpoint.url, through=through), ExecutionState.FAILED, Reason.DENIED)
    idle.close()
    assert "from https to http" in outcome.message
    assert plain.requests == []


def test_a_password_in_a_location_is_neither_used_nor_shown(serve: Serve, attempt: Attempt) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    endpoint = serve(answer=_redirect(f"http://user:s3cret@127.0.0.1:{port}/s3cret?s3cret"))
    outcome = _expect(attempt(endpoint.url), ExecutionState.FAILED, Reason.CONNECT_ERROR)
    assert outcome.message == f"no connection to 127.0.0.1:{port}: connection refused"


def test_all_redirects_share_the_deadline_of_the_call(serve: Serve, attempt: Attempt) -> None:
    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        while endpoint.receive(connection):
            if len(endpoint.requests) > 2:
                connection.recv(1)  # until the client has had enough
            connection.sendall(_redirect("/again"))

    endpoint = serve(behave)
    _expect(attempt(endpoint.url, timeout_seconds=0.5), ExecutionState.FAILED, Reason.TIMEOUT)
    assert len(endpoint.requests) == 3

"""Whatever an endpoint does, the attempt ends in time, with bounded memory, and says what happened."""

import gzip
import itertools
import socket
import time
import tracemalloc
from collections.abc import Iterable

import pytest

from scheduler.domain.claims import Finish, Outcome
from scheduler.domain.states import ExecutionState, Reason
from tests.fixtures.raw_endpoints import Behaviour, RawEndpoint, Serve
from tests.integration.calls.conftest import Attempt

LIMIT_SECONDS = 0.6
LATEST_SECONDS = LIMIT_SECONDS + 2  # a loaded machine wakes threads late
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def _answering(*pieces: bytes | Iterable[bytes], every: float = 0.0) -> Behaviour:
    """Answer one request with these pieces, `every` seconds one of each series, then say nothing more."""

    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        endpoint.receive(connection)
        for piece in pieces:
            for part in [piece] if isinstance(piece, bytes) else piece:
                connection.sendall(part)
                time.sleep(every)
        connection.recv(1)  # until the client has had enough

    return behave


def _single(text: bytes) -> Iterable[bytes]:
    return (text[number : number + 1] for number in itertools.cycle(range(len(text))))


def _expect_timeout_in_time(attempt: Attempt, endpoint: RawEndpoint) -> None:
    begun = time.monotonic()
    outcome = attempt(endpoint.url, timeout_seconds=LIMIT_SECONDS)
    assert LIMIT_SECONDS <= time.monotonic() - begun < LATEST_SECONDS
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.reason) == (ExecutionState.FAILED, Reason.TIMEOUT)
    assert outcome.message.startswith("no complete answer within 0.6 s")


def _expect_success(outcome: Outcome) -> None:
    assert isinstance(outcome, Finish)
    assert outcome.state is ExecutionState.SUCCEEDED, outcome


def _expect_no_answer(outcome: Outcome, words: str) -> None:
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.reason) == (ExecutionState.FAILED, Reason.CONNECT_ERROR)
    assert words in outcome.message


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(_answering(), id="nothing at all"),
        pytest.param(
            _answering(b"HTTP/1.1 200 OK\r\n", _single(b"X-A: b\r\n"), every=0.05), id="a header byte now and then"
        ),
        pytest.param(_answering(HEAD, _single(b"x"), every=0.05), id="a body byte now and then"),
        pytest.param(_answering(CHUNKED, _single(b"1\r\nx\r\n"), every=0.05), id="a chunk's byte now and then"),
        pytest.param(_answering(itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n"), every=0.05), id="only promises"),
    ],
)
def test_the_whole_call_has_one_deadline(serve: Serve, attempt: Attempt, behave: Behaviour) -> None:
    _expect_timeout_in_time(attempt, serve(behave))


def test_a_large_body_cannot_hold_up_a_call_whose_endpoint_does_not_read(serve: Serve, attempt: Attempt) -> None:
    deaf = serve(lambda _endpoint, connection: _wait_for_the_end(connection))
    begun = time.monotonic()
    outcome = attempt(deaf.url, body="x" * 30_000_000, timeout_seconds=LIMIT_SECONDS)
    assert time.monotonic() - begun < LATEST_SECONDS
    assert isinstance(outcome, Finish)
    assert outcome.reason is Reason.TIMEOUT


def _wait_for_the_end(connection: socket.socket) -> None:
    while connection.fileno() >= 0:
        time.sleep(0.05)


def test_a_gigabyte_in_chunks_is_not_read(serve: Serve, attempt: Attempt) -> None:
    sent = itertools.count()

    def chunks() -> Iterable[bytes]:
        chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
        while next(sent) < 1_024:
            yield chunk

    _expect_success(attempt(serve(_answering(CHUNKED, chunks())).url))
    assert next(sent) < 40  # what the sockets' buffers hold


@pytest.mark.parametrize("head", [b"Content-Length: 1073741824\r\n\r\n", b"Connection: close\r\n\r\n"])
def test_a_gigabyte_in_one_piece_is_not_read(serve: Serve, attempt: Attempt, head: bytes) -> None:
    blocks = (b"x" * 0x100000 for _ in range(1_024))
    _expect_success(attempt(serve(_answering(b"HTTP/1.1 200 OK\r\n" + head, blocks)).url))
    assert sum(1 for _ in blocks) > 900


def test_a_compressed_bomb_stays_compressed(serve: Serve, attempt: Attempt) -> None:
    bomb = gzip.compress(bytes(50_000_000))
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb
    endpoint = serve(answer=answer)
    tracemalloc.start()
    _expect_success(attempt(endpoint.url))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000_000


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\xff\xfe" * 100 + b"\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(500)) + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
    ],
)
def test_an_answer_that_is_no_http_fails_the_run(serve: Serve, attempt: Attempt, answer: bytes) -> None:
    _expect_no_answer(attempt(serve(answer=answer).url), "is no complete HTTP answer")


def test_an_endless_head_fails_the_run(serve: Serve, attempt: Attempt) -> None:
    promises = itertools.repeat(b"HTTP/1.1 100 Continue\r\n" + b"X: " + b"y" * 30_000 + b"\r\n\r\n")
    _expect_no_answer(attempt(serve(_answering(promises)).url), "too large")


def test_an_answer_that_breaks_off_fails_the_run(serve: Serve, attempt: Attempt) -> None:
    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        endpoint.receive(connection)
        connection.sendall(HEAD + b"only this")

    _expect_no_answer(attempt(serve(behave).url), "is no complete HTTP answer")


def test_an_endpoint_that_hangs_up_without_an_answer_may_have_done_its_work(serve: Serve, attempt: Attempt) -> None:
    endpoint = serve(lambda endpoint, connection: endpoint.receive(connection) and None)
    _expect_no_answer(attempt(endpoint.url), "it may have processed the request")
    assert len(endpoint.requests) == 1  # sent at most once per attempt


def test_an_answer_given_before_the_body_was_read_counts(serve: Serve, attempt: Attempt) -> None:
    def behave(_endpoint: RawEndpoint, connection: socket.socket) -> None:
        connection.recv(100)
        connection.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        time.sleep(0.2)

    outcome = attempt(serve(behave).url, body="x" * 10_000_000)
    assert isinstance(outcome, Finish)
    # Where the hang-up destroys the answer on its way, there is none.
    assert outcome.http_status == 413 or outcome.reason is Reason.CONNECT_ERROR


def test_nobody_listening_is_said_so(attempt: Attempt) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    _expect_no_answer(attempt(f"http://127.0.0.1:{port}/"), f"no connection to 127.0.0.1:{port}: connection refused")


def test_connecting_has_a_limit_of_its_own(attempt: Attempt) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        crowd = [socket.socket() for _ in range(4)]  # the queue of connections nobody accepts
        for each in crowd:
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        begun = time.monotonic()
        outcome = attempt(f"http://127.0.0.1:{full.getsockname()[1]}/", connect_timeout_seconds=LIMIT_SECONDS)
        assert time.monotonic() - begun < LATEST_SECONDS
        for each in crowd:
            each.close()
    _expect_no_answer(outcome, "it took too long")


def test_nothing_of_a_url_but_its_host_is_ever_shown(
    serve: Serve, attempt: Attempt, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    endpoint = serve(answer=b"nonsense\r\n")
    url = endpoint.url.replace("http://", "http://user:s3cret@") + "/hook/s3cret?token=s3cret#s3cret"
    outcome = attempt(url, auth_header="s3cret", headers={"X-Key": "s3cret"}, body="s3cret")
    assert "s3cret" not in repr(outcome)
    assert "s3cret" not in caplog.text
    assert endpoint.requests[0].line == "POST /hook/s3cret?token=s3cret HTTP/1.1"
    assert "user" not in endpoint.requests[0].headers["host"]

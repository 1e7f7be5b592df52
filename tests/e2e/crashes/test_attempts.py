"""Attempts through the whole of it: claim, send, write, publish again; and nothing secret on the way."""

import socket
from datetime import timedelta

import pytest

from tests.e2e.crashes.conftest import Crew, retrying
from tests.fixtures.raw_endpoints import ANSWER, RawEndpoint, Serve

BUSY = b"HTTP/1.1 503 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n"


def _busy_at_first(endpoint: RawEndpoint, connection: socket.socket) -> None:
    while endpoint.receive(connection):
        connection.sendall(BUSY if len(endpoint.requests) < 3 else ANSWER)


def test_a_call_that_asks_for_it_is_tried_until_it_succeeds(rabbit_crew: Crew, serve: Serve) -> None:
    endpoint = serve(_busy_at_first)
    rabbit_crew.start("ticker")
    rabbit_crew.start("call-runner")
    guid = rabbit_crew.run(rabbit_crew.call(endpoint.url, retry=retrying("503", attempts=5)))
    row = rabbit_crew.await_row(guid, state="SUCCEEDED")
    assert (row.attempt, row.reason, row.message, row.http_status) == (3, None, "POST success", 200)
    assert row.execution_start_time - row.first_start_time >= timedelta(seconds=4)  # what the endpoint asked for
    assert [request.headers["x-scheduler-attempt"] for request in endpoint.requests] == ["1", "2", "3"]
    assert {request.headers["idempotency-key"] for request in endpoint.requests} == {str(guid)}


def test_a_call_that_never_succeeds_ends_with_its_last_failure(crew: Crew, serve: Serve) -> None:
    endpoint = serve(answer=b"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n")
    crew.start("ticker")
    crew.start("call-runner")
    guid = crew.run(crew.call(endpoint.url, retry=retrying("502", attempts=3)))
    row = crew.await_row(guid, state="FAILED")
    assert (row.attempt, row.reason, row.message) == (3, "http_status", "the endpoint answered 502 Bad Gateway")
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("answer", [ANSWER, b"nonsense\r\n", BUSY])
def test_nothing_secret_is_logged_counted_or_stored(crew: Crew, serve: Serve, answer: bytes) -> None:  # checklist 50
    endpoint = serve(answer=answer)
    url = endpoint.url.replace("//", "//user:s3cret@") + "/hook/s3cret?token=s3cret"
    services = [crew.start(name, LOG_LEVEL="trace") for name in ("ticker", "call-runner")]
    options = {"auth_header": "bearer s3cret", "headers": {"X-Key": "s3cret"}, "body": "s3cret"}
    guid = crew.run(crew.call(url, **options, retry=retrying("503", "connect_error")))
    crew.await_row(guid, state="SUCCEEDED" if answer is ANSWER else "FAILED")
    assert endpoint.requests[0].line == "POST /hook/s3cret?token=s3cret HTTP/1.1"
    assert "s3cret" not in str(crew.row(guid))
    for service in services:
        assert "s3cret" not in service.get("/metrics")[1]
        service.stop()
        assert "s3cret" not in service.output()

"""A hundred calls that hang beside one that does not."""

import socket
from datetime import timedelta

from scheduler.domain.calls import Call
from tests.e2e.crashes.conftest import Crew
from tests.fixtures.raw_endpoints import RawEndpoint, Serve
from tests.fixtures.session import wait_until
from tests.fixtures.suite import Endpoint

HANGING = 100


def _silent(endpoint: RawEndpoint, connection: socket.socket) -> None:
    endpoint.receive(connection)
    connection.recv(1)


def _hang(crew: Crew, serve: Serve, *, seconds: float, under_way: int) -> None:
    """Let a hundred calls hang, so many of them under way."""
    endpoint = serve(_silent)
    call: Call = crew.call(endpoint.url, timeout_seconds=seconds)
    for _ in range(HANGING):
        crew.run(call)
    wait_until(lambda: len(endpoint.requests) >= under_way, within=30, what=f"{under_way} calls hang")


def _lateness(crew: Crew, endpoint: Endpoint, *, within: float = 30) -> timedelta:
    """Run a call that does not hang; return how long it waited."""
    guid = crew.run(crew.call(endpoint.url))
    row = crew.await_row(guid, within=within, state="SUCCEEDED")
    late: timedelta = row.execution_start_time - row.created_at
    return late


def test_with_threads_to_spare_the_healthy_call_is_on_time(rabbit_crew: Crew, serve: Serve, endpoint: Endpoint) -> None:
    rabbit_crew.start("ticker")
    rabbit_crew.start("call-runner", SCHEDULER_WORKERS="128", SHUTDOWN_GRACE_SECONDS="1")
    _hang(rabbit_crew, serve, seconds=60, under_way=HANGING)
    assert _lateness(rabbit_crew, endpoint) < timedelta(seconds=2)


def test_without_a_free_thread_it_runs_as_soon_as_there_is_one(
    rabbit_crew: Crew, serve: Serve, endpoint: Endpoint
) -> None:
    rabbit_crew.start("ticker")
    rabbit_crew.start("call-runner", SCHEDULER_WORKERS="20", SHUTDOWN_GRACE_SECONDS="1")
    _hang(rabbit_crew, serve, seconds=2, under_way=20)
    # Five rounds of two seconds are before it, and no more.
    assert _lateness(rabbit_crew, endpoint, within=60) < timedelta(seconds=15)


def test_a_second_runner_takes_it_at_once(rabbit_crew: Crew, serve: Serve, endpoint: Endpoint) -> None:
    rabbit_crew.start("ticker")
    rabbit_crew.start("call-runner", SCHEDULER_WORKERS="20", SHUTDOWN_GRACE_SECONDS="1")
    _hang(rabbit_crew, serve, seconds=60, under_way=20)
    rabbit_crew.start("call-runner", SCHEDULER_WORKERS="100", SHUTDOWN_GRACE_SECONDS="1")
    assert _lateness(rabbit_crew, endpoint) < timedelta(seconds=5)

"""kill -9 at the named moments: what had been begun is settled, what had not is done by others, nothing twice."""

import socket
import threading
from datetime import datetime, timedelta
from typing import Any

import pytest

from scheduler.domain.states import ExpressionType
from scheduler.testing.factories import make_schedule
from scheduler_local.testing import RUNNING_FOR_EVER, SUCCEEDED
from tests.e2e.crashes.conftest import RESCUED_WITHIN, Crew, retrying
from tests.fixtures.raw_endpoints import ANSWER, RawEndpoint, Serve
from tests.fixtures.session import wait_until
from tests.fixtures.suite import Endpoint


def _silent(endpoint: RawEndpoint, connection: socket.socket) -> None:
    endpoint.receive(connection)
    connection.recv(1)


def _silent_to_the_first(endpoint: RawEndpoint, connection: socket.socket) -> None:
    while endpoint.receive(connection):
        if len(endpoint.requests) == 1:
            connection.recv(1)
        connection.sendall(ANSWER)


def _started(crew: Crew, endpoint: RawEndpoint, count: int = 1) -> None:
    wait_until(lambda: len(endpoint.requests) >= count, within=30, what=f"{count} calls have arrived", every=0.05)


def test_a_call_whose_runner_is_killed_fails_and_the_next_occurrences_run_on_time(
    rabbit_crew: Crew, serve: Serve
) -> None:
    endpoint = serve(_silent_to_the_first)
    call = rabbit_crew.call(endpoint.url, timeout_seconds=120)
    rabbit_crew.start("ticker")
    runner = rabbit_crew.start("call-runner")
    guid = rabbit_crew.run(call)
    _started(rabbit_crew, endpoint)
    runner.kill()
    killed_at = rabbit_crew.rows.now()
    rabbit_crew.start("call-runner")
    every_second = {"expression": "PT1S", "expression_type": ExpressionType.FIXED_RATE}
    rabbit_crew.rows.add(make_schedule(call, **every_second, **_beginning(rabbit_crew.rows.now())))
    row = rabbit_crew.await_row(guid, state="FAILED", reason="runner_lost")
    assert row.execution_end_time - killed_at < timedelta(seconds=RESCUED_WITHIN)
    assert "its outcome is unknown" in row.message
    occurrences = wait_until(lambda: _ended_occurrences(rabbit_crew, 5), within=30, what="five occurrences have ended")
    assert {occurrence.state for occurrence in occurrences} == {"SUCCEEDED"}
    late = [occurrence.execution_start_time - occurrence.scheduled_time for occurrence in occurrences]
    assert max(late) < timedelta(seconds=4)
    assert [request.headers["x-scheduler-execution-guid"] for request in endpoint.requests].count(str(guid)) == 1


def _beginning(now: datetime) -> dict[str, datetime]:
    return {"cursor_at": now, "anchor_at": now, "next_fire_at": now}


def _ended_occurrences(crew: Crew, count: int) -> list[Any]:
    ended = [row for row in crew.rows.all() if row.schedule_guid and row.execution_end_time]
    return ended if len(ended) >= count else []


def test_a_call_that_asks_for_it_is_tried_again_after_its_runner_was_lost(crew: Crew, serve: Serve) -> None:
    endpoint = serve(_silent)
    call = crew.call(endpoint.url, timeout_seconds=120, retry=retrying("runner_lost"))
    crew.start("ticker")
    runner = crew.start("call-runner")
    guid = crew.run(call)
    _started(crew, endpoint)
    endpoint.behave = lambda endpoint, connection: endpoint.receive(connection) and connection.sendall(ANSWER)
    runner.kill()
    crew.start("call-runner")
    assert crew.await_row(guid, state="SUCCEEDED").attempt == 2
    assert [request.headers["x-scheduler-attempt"] for request in endpoint.requests] == ["1", "2"]


def test_a_task_whose_runner_is_killed_before_it_was_recorded_is_found(rabbit_crew: Crew) -> None:
    cc = rabbit_crew.cc
    cc.script_tasks(RUNNING_FOR_EVER)
    cc.fault("slow", method="POST", path="/tasks", after=True, seconds=20, count=1)
    rabbit_crew.start("ticker")
    runner = rabbit_crew.start("job-runner")
    guid = rabbit_crew.run(rabbit_crew.job())
    (task,) = wait_until(cc.tasks, within=30, what="the task is created", every=0.05)
    runner.kill()
    assert rabbit_crew.row(guid).task_guid is None
    rabbit_crew.start("job-runner")
    rabbit_crew.await_row(guid, state="RUNNING", task_guid=task["guid"])
    cc.script_task(task["guid"], SUCCEEDED)
    rabbit_crew.await_row(guid, state="SUCCEEDED")
    assert len(cc.tasks()) == 1


def test_a_task_that_is_followed_by_a_runner_that_is_killed_is_followed_by_another(crew: Crew) -> None:
    cc = crew.cc
    cc.script_tasks(RUNNING_FOR_EVER)
    crew.start("ticker")
    runner = crew.start("job-runner")
    guid = crew.run(crew.job())
    task = wait_until(lambda: crew.row(guid).task_guid, within=30, what="the task is recorded")
    runner.kill()
    cc.script_task(task, SUCCEEDED)
    crew.start("job-runner")
    crew.await_row(guid, state="SUCCEEDED")
    assert len(cc.tasks()) == 1


def test_a_runner_killed_in_its_claim_leaves_the_run_to_others(rabbit_crew: Crew, endpoint: Endpoint) -> None:
    rabbit_crew.start("ticker")
    guid = rabbit_crew.run(rabbit_crew.call(endpoint.url))
    wait_until(lambda: rabbit_crew.row(guid).queued_at, within=30, what="the message is published")
    with rabbit_crew.rows.engine.begin() as holding:
        holding.exec_driver_sql("SELECT FROM executions FOR UPDATE")
        runner = rabbit_crew.start("call-runner")
        _await_waiting_claim(rabbit_crew)
        runner.kill()
    assert rabbit_crew.row(guid).state == "PENDING"
    rabbit_crew.start("call-runner")
    rabbit_crew.await_row(guid, state="SUCCEEDED")
    assert len(endpoint.hits) == 1


def _await_waiting_claim(crew: Crew) -> None:
    """Wait until some session waits for the lock that this test holds."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"

    def is_waiting() -> bool:
        with crew.rows.engine.connect() as connection:
            return bool(connection.exec_driver_sql(waiting).scalar_one())

    wait_until(is_waiting, within=30, what="a claim waits for its row")


@pytest.mark.parametrize("queue", ["postgres", "rabbitmq"])
def test_of_five_hundred_queued_runs_only_those_under_way_are_lost(
    request: pytest.FixtureRequest, serve: Serve, queue: str
) -> None:
    crew: Crew = request.getfixturevalue("rabbit_crew" if queue == "rabbitmq" else "crew")
    gate = threading.Event()

    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        while endpoint.receive(connection):
            if gate.is_set():
                connection.sendall(ANSWER)
            else:
                connection.recv(1)

    endpoint = serve(behave)
    call = crew.call(endpoint.url, timeout_seconds=120)
    guids = [crew.run(call) for _ in range(500)]
    crew.start("ticker")
    runner = crew.start("call-runner", SCHEDULER_WORKERS="20")
    _started(crew, endpoint, 20)
    runner.kill()
    gate.set()
    crew.start("call-runner")
    wait_until(
        lambda: {crew.row(guid).state for guid in guids} <= {"SUCCEEDED", "FAILED"},
        within=RESCUED_WITHIN + 60,
        what="all runs have ended",
        every=0.5,
    )
    ended = [(row.state, row.reason) for row in map(crew.row, guids)]
    assert ended.count(("FAILED", "runner_lost")) == 20
    assert ended.count(("SUCCEEDED", None)) == 480
    sent = [request.headers["x-scheduler-execution-guid"] for request in endpoint.requests]
    assert sorted(sent) == sorted(str(guid) for guid in guids)  # each exactly once


def test_a_serial_schedule_goes_on_after_its_runner_was_killed(rabbit_crew: Crew, serve: Serve) -> None:
    endpoint = serve(_silent_to_the_first)
    call = rabbit_crew.call(endpoint.url, timeout_seconds=120)
    schedule = make_schedule(call)
    rabbit_crew.start("ticker")
    runner = rabbit_crew.start("call-runner")
    due = rabbit_crew.rows.now()
    guids = [
        rabbit_crew.rows.execution(
            call, schedule, serial=True, scheduled_time=due + timedelta(seconds=number), start_by=None
        )
        for number in range(4)
    ]
    rabbit_crew.rows.run("SELECT pg_notify('scheduler_relay', '')")
    _started(rabbit_crew, endpoint)
    runner.kill()
    rabbit_crew.start("call-runner")
    rabbit_crew.await_row(guids[0], state="FAILED", reason="runner_lost")
    rows = [rabbit_crew.await_row(guid, state="SUCCEEDED") for guid in guids[1:]]
    starts = [row.execution_start_time for row in rows]
    ends = [row.execution_end_time for row in rows]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))  # one at a time, in order

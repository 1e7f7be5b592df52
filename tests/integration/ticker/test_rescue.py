"""Runs whose runner died are settled, those of the living are left alone, and nobody waits for ever."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine

from scheduler.domain.calls import Call, Request, Retry
from scheduler.domain.guids import new_guid
from scheduler.domain.jobs import Job
from scheduler.running.liveness import Liveness
from scheduler.runtime.timing import Timing
from scheduler.testing.factories import make_call, make_job
from scheduler_ticker.rescue import Rescue
from tests.fixtures.rows import Rows

DEAD, ALIVE = 61, 0  # seconds since a process was seen


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def liveness(engine: Engine, clock: Clock) -> Liveness:
    """The ticker's own, alive for long enough to judge others."""
    liveness = Liveness(engine, "ticker", Timing(), clock=clock)
    for _ in range(8):
        liveness.beat()
        clock.now += 10
    return liveness


@pytest.fixture
def rescue(engine: Engine, liveness: Liveness) -> Rescue:
    return Rescue(engine, liveness, Timing())


def _process(rows: Rows, *, seen: float) -> UUID:
    guid = new_guid()
    rows.run(
        "INSERT INTO processes VALUES (:guid, 'runner', 'host', '3', now(), now() - :seen * interval '1 second')",
        guid=guid,
        seen=seen,
    )
    return guid


def _running(rows: Rows, work: Call | Job, *, seen: float, age: float = 5, **fields: Any) -> UUID:
    """Insert an execution that runs on a process that was seen so many seconds ago."""
    rows.add(work)
    guid = rows.execution(
        work,
        state="RUNNING",
        runner=_process(rows, seen=seen),
        claim_token=new_guid(),
        attempt=1,
        execution_start_time=rows.now(),
        first_start_time=rows.now(),
        **fields,
    )
    rows.run(
        "UPDATE executions SET execution_start_time = now() - :age * interval '1 second' WHERE guid = :guid",
        guid=guid,
        age=age,
    )
    return guid


def _retrying(**retry: Any) -> Call:
    wish = Retry(**{"max_attempts": 2, "retry_on": ("runner_lost",), **retry})
    return make_call(request=Request(url="http://x/", auth_header="a", retry=wish))


def test_a_call_of_a_dead_runner_fails_with_an_unknown_outcome(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, make_call(), seen=DEAD)
    rescue.run_once()
    row = rows.read(guid)
    assert (row.state, row.reason) == ("FAILED", "runner_lost")
    assert row.execution_end_time is not None


def test_a_call_of_a_living_runner_goes_on(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, make_call(), seen=ALIVE, age=100)
    rescue.run_once()
    assert rows.read(guid).state == "RUNNING"


def test_a_process_that_is_not_even_known_is_dead(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, make_call(), seen=ALIVE)
    rows.run("DELETE FROM processes WHERE service = 'runner'")
    rescue.run_once()
    assert rows.read(guid).reason == "runner_lost"


def test_a_call_that_asks_for_it_waits_for_its_next_attempt(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, _retrying(), seen=DEAD, queued_at=rows.now())
    rescue.run_once()
    row = rows.read(guid)
    assert (row.state, row.reason, row.queued_at, row.attempt) == ("PENDING", "runner_lost", None, 1)
    assert row.execution_end_time is None


@pytest.mark.parametrize("retry", [{"max_attempts": 1}, {"max_age_seconds": 0}, {"retry_on": ("503",)}])
def test_a_call_beyond_its_own_limits_is_not_tried_again(rows: Rows, rescue: Rescue, retry: dict[str, Any]) -> None:
    guid = _running(rows, _retrying(**retry), seen=DEAD)
    rescue.run_once()
    assert rows.read(guid).state == "FAILED"


def test_a_call_that_was_deleted_meanwhile_fails(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, _retrying(), seen=DEAD)
    rows.run("DELETE FROM calls")
    rescue.run_once()
    assert rows.read(guid).state == "FAILED"


def test_a_job_without_a_task_is_looked_up_by_the_next_runner(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, make_job(), seen=DEAD)
    rescue.run_once()
    row = rows.read(guid)
    assert (row.state, row.look_up_first, row.attempt) == ("PENDING", True, 0)
    assert 55 < (row.not_before - rows.now()).total_seconds() <= 60  # Cloud Controller may still be at it


def test_a_job_with_a_task_needs_nothing(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, make_job(), seen=DEAD, task_guid="task-1", next_poll_at=rows.now())
    rescue.run_once()
    assert rows.read(guid).state == "RUNNING"


@pytest.mark.parametrize(("age", "reason"), [(30 + 115, None), (30 + 125, "runner_lost")])
def test_a_living_runner_that_forgot_a_call_loses_it_two_minutes_after_its_limit(
    rows: Rows, rescue: Rescue, age: float, reason: str | None
) -> None:
    guid = _running(rows, make_call(), seen=ALIVE, age=age)
    rescue.run_once()
    assert rows.read(guid).reason == reason


@pytest.mark.parametrize(("age", "looked_up"), [(60 + 115, False), (60 + 125, True)])
def test_a_living_runner_that_forgot_a_job_loses_it_three_minutes_after_the_claim(
    rows: Rows, rescue: Rescue, age: float, *, looked_up: bool
) -> None:
    guid = _running(rows, make_job(), seen=ALIVE, age=age)
    rescue.run_once()
    assert rows.read(guid).look_up_first is looked_up


def test_a_ticker_that_was_cut_off_itself_judges_nobody_for_a_minute(
    rows: Rows, rescue: Rescue, liveness: Liveness, clock: Clock
) -> None:
    guid = _running(rows, make_call(), seen=DEAD)
    clock.now += 60  # the database was away
    liveness.beat()
    rescue.run_once()
    assert rows.read(guid).state == "RUNNING"
    for _ in range(7):
        clock.now += 10
        liveness.beat()
    rescue.run_once()
    assert rows.read(guid).reason == "runner_lost"


def test_a_run_past_its_start_deadline_ends(rows: Rows, rescue: Rescue) -> None:
    guid = rows.execution(make_job(), start_by=rows.now())
    rescue.run_once()
    row = rows.read(guid)
    assert (row.state, row.reason) == ("FAILED", "too_late")
    assert row.message == "not started in time: its start deadline had passed"


def test_what_was_in_its_way_is_kept_in_the_message(rows: Rows, rescue: Rescue) -> None:
    guid = rows.execution(make_job(), start_by=rows.now(), message="waits: app_task_limit quota exceeded")
    rescue.run_once()
    assert rows.read(guid).message.endswith("had passed; waits: app_task_limit quota exceeded")


def test_a_run_that_may_have_a_task_is_never_ended_here(rows: Rows, rescue: Rescue) -> None:
    guid = rows.execution(make_job(), start_by=rows.now(), look_up_first=True)
    rescue.run_once()
    assert rows.read(guid).state == "PENDING"


def test_long_dead_processes_are_forgotten_unless_something_refers_to_them(rows: Rows, rescue: Rescue) -> None:
    gone = _process(rows, seen=601)
    kept = _process(rows, seen=599)
    following = _process(rows, seen=601)
    rows.execution(make_job(), state="RUNNING", runner=following, task_guid="task-1")
    rescue.run_once()
    with rows.engine.connect() as connection:
        known = set(connection.exec_driver_sql("SELECT guid FROM processes WHERE service = 'runner'").scalars())
    assert known == {kept}
    assert gone not in known


def test_two_tickers_rescue_once(rows: Rows, rescue: Rescue) -> None:
    guid = _running(rows, _retrying(max_attempts=9), seen=DEAD)
    other = replace(rescue)
    rescue.run_once()
    rows.run("UPDATE executions SET state = 'RUNNING', claim_token = :token, runner = :runner",
             token=new_guid(), runner=_process(rows, seen=ALIVE))  # fmt: skip
    other.run_once()
    assert rows.read(guid).state == "RUNNING"

"""Deleting a job, call or schedule: what goes, what ends, what stays."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from sqlalchemy import Connection, Engine, insert, select, update

from scheduler.domain.claims import TryAgain
from scheduler.domain.executions import Execution
from scheduler.domain.guids import new_guid
from scheduler.domain.states import ExecutionState, RefType
from scheduler.store import claims
from scheduler.store.calls import insert_call
from scheduler.store.claims import Claimant
from scheduler.store.deletion import delete_schedules_and_pending, delete_work, schedules_left
from scheduler.store.engine import open_engine
from scheduler.store.jobs import get_job, insert_job
from scheduler.store.outcomes import write_outcomes
from scheduler.store.schedules import get_schedule, insert_schedule
from scheduler.store.sealing import Seal
from scheduler.store.tables import executions
from scheduler.testing.factories import make_call, make_execution, make_job, make_schedule
from tests.fixtures.session import wait_until


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = open_engine(database_url, pool_size=8)
    yield engine
    engine.dispose()


def _insert_execution(connection: Connection, execution: Execution) -> UUID:
    names = [name for name in Execution.__slots__ if getattr(execution, name) is not None]
    connection.execute(insert(executions).values(**{name: getattr(execution, name) for name in names}))
    return execution.guid


def _read(engine: Engine, guid: UUID) -> tuple[str, str | None, str]:
    columns = (executions.c.state, executions.c.reason, executions.c.message)
    with engine.begin() as connection:
        state, reason, message = connection.execute(select(*columns).where(executions.c.guid == guid)).one()
    return state, reason, message


def test_a_deleted_job_takes_its_schedules_along_and_ends_what_has_not_started(engine: Engine) -> None:
    # checklist 142, 144
    job = make_job()
    schedule = make_schedule(job)
    with engine.begin() as connection:
        insert_job(connection, job)
        insert_schedule(connection, schedule)
        planned = _insert_execution(connection, make_execution(schedule))
        manual = _insert_execution(connection, make_execution(ref_guid=job.guid))
        running = _insert_execution(connection, make_execution(schedule, state=ExecutionState.RUNNING))
        ended = _insert_execution(connection, make_execution(schedule, state=ExecutionState.SUCCEEDED))
        other = _insert_execution(connection, make_execution())
    with engine.begin() as connection:
        assert delete_work(connection, RefType.JOB, job.guid)
    with engine.begin() as connection:
        assert get_job(connection, job.guid) is None
        assert get_schedule(connection, schedule.guid) is None
        assert schedules_left(connection, RefType.JOB, job.guid) == []
    message = "the job was deleted before this run was started"
    assert _read(engine, planned) == _read(engine, manual) == ("FAILED", "deleted", message)
    assert [_read(engine, guid)[0] for guid in (running, ended, other)] == ["RUNNING", "SUCCEEDED", "PENDING"]


def test_a_pending_execution_that_may_have_a_task_is_left_to_a_runner(engine: Engine) -> None:
    job = make_job()
    with engine.begin() as connection:
        insert_job(connection, job)
        doubtful = _insert_execution(connection, make_execution(ref_guid=job.guid, look_up_first=True))
    with engine.begin() as connection:
        delete_work(connection, RefType.JOB, job.guid)
    assert _read(engine, doubtful)[0] == "PENDING"


def test_deleting_what_is_not_there_says_so_and_the_same_guid_of_the_other_type_is_safe(engine: Engine) -> None:
    call = make_call()
    schedule = make_schedule(call)
    with engine.begin() as connection:
        insert_call(connection, call, Seal())
        insert_schedule(connection, schedule)
    with engine.begin() as connection:
        assert not delete_work(connection, RefType.JOB, call.guid)
        assert not delete_work(connection, RefType.CALL, new_guid())
        assert get_schedule(connection, schedule.guid) is not None
        assert delete_work(connection, RefType.CALL, call.guid)


def test_deleting_one_schedule_ends_its_own_pending_executions_only(engine: Engine) -> None:
    # checklist 136, 144
    job = make_job()
    schedule, sibling = make_schedule(job), make_schedule(job)
    with engine.begin() as connection:
        insert_job(connection, job)
        for each in (schedule, sibling):
            insert_schedule(connection, each)
        mine = _insert_execution(connection, make_execution(schedule))
        others = _insert_execution(connection, make_execution(sibling))
    with engine.begin() as connection:
        assert delete_schedules_and_pending(connection, [schedule.guid, new_guid()]) == 1
        assert schedules_left(connection, RefType.JOB, job.guid) == [sibling.guid]
    message = "the schedule was deleted before this run was started"
    assert _read(engine, mine) == ("FAILED", "deleted", message)
    assert _read(engine, others)[0] == "PENDING"


def test_what_runs_when_its_schedule_is_deleted_finishes_but_begins_nothing_more(engine: Engine) -> None:
    # checklist 136
    call = make_call()
    schedule, sibling = make_schedule(call), make_schedule(call)
    token = new_guid()
    running = {"state": ExecutionState.RUNNING, "attempt": 1}
    with engine.begin() as connection:
        insert_call(connection, call, Seal())
        for each in (schedule, sibling):
            insert_schedule(connection, each)
        mine = _insert_execution(connection, make_execution(schedule, **running))
        with_task = _insert_execution(connection, make_execution(schedule, task_guid="a task", **running))
        others = _insert_execution(connection, make_execution(sibling, **running))
        connection.execute(update(executions).values(runner=token, claim_token=token))
    with engine.begin() as connection:
        delete_schedules_and_pending(connection, [schedule.guid])
    assert [_read(engine, guid)[0] for guid in (mine, with_task, others)] == ["RUNNING"] * 3

    claimant = Claimant(runner=token, token=token)
    with engine.begin() as connection:
        claimed = claims.claim(connection, RefType.CALL, [mine, others], claimant, Seal())
        again = TryAgain(delay_seconds=0, message="503")
        assert write_outcomes(connection, [(each, again) for each in claimed]) == 2
    with engine.begin() as connection:
        new_claimant = Claimant(runner=token, token=new_guid())
        assert [each.guid for each in claims.claim(connection, RefType.CALL, [mine, others], new_claimant, Seal())] == [
            others
        ]
    assert _read(engine, mine) == ("FAILED", "cancelled", "cancelled before it was tried again; 503")
    with engine.begin() as connection:
        asked = select(executions.c.cancel_requested_at).where(executions.c.guid == with_task)
        assert connection.execute(asked).scalar() is None


def test_deleting_no_schedule_at_all_is_no_error(engine: Engine) -> None:
    with engine.begin() as connection:
        assert delete_schedules_and_pending(connection, []) == 0


def test_what_a_ticker_has_just_planned_is_ended_too(engine: Engine) -> None:
    job = make_job()
    schedule = make_schedule(job)
    with engine.begin() as connection:
        insert_job(connection, job)
        insert_schedule(connection, schedule)

    def delete() -> None:
        with engine.begin() as connection:
            delete_work(connection, RefType.JOB, job.guid)

    with ThreadPoolExecutor(1) as threads:
        with engine.begin() as ticker:
            ticker.exec_driver_sql("SELECT FROM schedules FOR UPDATE")
            deletion = threads.submit(delete)
            wait_until(lambda: _somebody_waits(engine), within=10, what="the deletion waits for the ticker")
            planned = _insert_execution(ticker, make_execution(schedule))
        deletion.result(10)
    assert _read(engine, planned)[:2] == ("FAILED", "deleted")


def _somebody_waits(engine: Engine) -> bool:
    with engine.connect() as connection:
        return bool(connection.exec_driver_sql("SELECT count(*) FROM pg_locks WHERE NOT granted").scalar())

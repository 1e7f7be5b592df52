"""Declared schedules are created where they are absent, and never overwritten."""

import threading
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from scheduler.domain.jobs import Job
from scheduler.domain.schedules import Definition, Schedule
from scheduler.domain.states import PausedBy, RefType, ScheduleState
from scheduler.store.owners import OwnerQuery
from scheduler.store.schedules import schedules_of
from scheduler.testing.factories import make_call, make_job
from scheduler_ticker.declarations import Declaration, Declarer
from tests.fixtures.rows import Rows


@pytest.fixture
def job(rows: Rows) -> Job:
    job = make_job()
    rows.add(job)
    return job


def _nightly(job: Job, **changes: object) -> Declaration:
    owner = OwnerQuery(kind=RefType.JOB, name=job.name, app_guid=job.app_guid)
    declaration = Declaration(name="nightly", owner=owner, definition=Definition(expression="0 2 * * *"))
    return replace(declaration, **changes)  # type: ignore[arg-type]


def _declare(engine: Engine, *declarations: Declaration) -> None:
    Declarer(engine=engine, declarations=declarations, default_zone="Europe/Berlin").declare_all()


def _schedules(rows: Rows, job: Job) -> list[Schedule]:
    with rows.engine.connect() as connection:
        return list(schedules_of(connection, RefType.JOB, job.guid, limit=10))


def test_an_absent_schedule_is_created(engine: Engine, rows: Rows, job: Job) -> None:
    _declare(engine, _nightly(job, metadata={"team": "a"}))
    (schedule,) = _schedules(rows, job)
    assert schedule.definition.expression == "0 2 * * *"
    assert schedule.progress.state is ScheduleState.ACTIVE
    assert schedule.progress.next_fire_at is not None
    assert schedule.progress.next_fire_at > rows.now()
    assert schedule.space_guid == job.space_guid
    assert schedule.metadata == {"team": "a", "declared_as": "nightly"}


def test_its_creation_is_written_down(engine: Engine, rows: Rows, job: Job) -> None:
    _declare(engine, _nightly(job))
    with engine.connect() as connection:
        event = connection.exec_driver_sql("SELECT * FROM audit_events").one()
    assert (event.action, event.actor_name, event.space_guid) == (
        "schedule.create", "configuration file", job.space_guid,
    )  # fmt: skip


def test_declaring_again_changes_nothing(engine: Engine, rows: Rows, job: Job) -> None:
    _declare(engine, _nightly(job))
    before = _schedules(rows, job)
    _declare(engine, _nightly(job))
    assert _schedules(rows, job) == before


def test_a_stored_definition_stays_and_the_difference_is_told(
    engine: Engine, rows: Rows, job: Job, caplog: pytest.LogCaptureFixture
) -> None:
    _declare(engine, _nightly(job))
    before = _schedules(rows, job)
    _declare(engine, _nightly(job, definition=Definition(expression="0 3 * * *", time_zone="Asia/Tokyo")))
    assert _schedules(rows, job) == before
    (warning,) = [record for record in caplog.records if record.levelname == "WARNING"]
    assert "differs from the stored one in expression, time_zone; the stored one stays" in warning.getMessage()
    assert warning.schedule_guid == str(before[0].guid)  # type: ignore[attr-defined]


def test_a_schedule_that_a_user_has_paused_stays_paused(engine: Engine, rows: Rows, job: Job) -> None:
    _declare(engine, _nightly(job))
    rows.run("UPDATE schedules SET enabled = false, paused_by = 'user'")
    _declare(engine, _nightly(job))
    assert _schedules(rows, job)[0].progress.paused_by is PausedBy.USER


def test_two_names_make_two_schedules(engine: Engine, rows: Rows, job: Job) -> None:
    _declare(engine, _nightly(job), _nightly(job, name="again"))
    assert len(_schedules(rows, job)) == 2


def test_many_tickers_declare_at_the_same_time(engine: Engine, rows: Rows, job: Job) -> None:
    threads = [threading.Thread(target=_declare, args=(engine, _nightly(job))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(_schedules(rows, job)) == 1


def test_a_job_that_is_not_there_yet_is_told_and_the_others_go_on(
    engine: Engine, rows: Rows, job: Job, caplog: pytest.LogCaptureFixture
) -> None:
    _declare(engine, _nightly(make_job()), _nightly(job))
    assert len(_schedules(rows, job)) == 1
    assert "The declared schedule nightly has no job yet" in caplog.text


def test_a_name_in_a_space_must_be_unique(
    engine: Engine, rows: Rows, job: Job, caplog: pytest.LogCaptureFixture
) -> None:
    owner = OwnerQuery(kind=RefType.JOB, name=job.name, space_guid=job.space_guid)
    _declare(engine, _nightly(job, owner=owner))
    assert len(_schedules(rows, job)) == 1
    rows.add(make_job(name=job.name, app_guid="another", space_guid=job.space_guid))
    _declare(engine, _nightly(job, owner=owner, name="second"))
    assert len(_schedules(rows, job)) == 1
    assert "fits more than one job" in caplog.text


def test_a_call_is_named_by_its_guid(engine: Engine, rows: Rows) -> None:
    call = make_call()
    rows.add(call)
    owner = OwnerQuery(kind=RefType.CALL, guid=call.guid)
    _declare(engine, Declaration(name="a", owner=owner, definition=Definition(expression="0 2 * * *")))
    with engine.connect() as connection:
        assert len(schedules_of(connection, RefType.CALL, call.guid, limit=10)) == 1


def test_one_that_is_declared_disabled_is_paused(engine: Engine, rows: Rows, job: Job) -> None:
    _declare(engine, _nightly(job, enabled=False))
    progress = _schedules(rows, job)[0].progress
    assert (progress.enabled, progress.next_fire_at) == (False, None)

"""Unbinding an app pauses its schedules; binding it again resumes exactly those."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, select

from scheduler.domain.planning import Live
from scheduler.domain.schedules import Schedule
from scheduler.domain.states import Overlap, PausedBy, ScheduleState
from scheduler.policies import plan
from scheduler.store.due import lock_due, read_live, write_plans
from scheduler.store.jobs import get_job
from scheduler.store.tables import audit_events, executions, schedules
from scheduler.testing.factories import APP, make_call, make_job, make_schedule
from tests.integration.broker.platform import USER, FakeCloudFoundry, Platform
from tests.integration.broker.rows import progress_of, store

OTHER_APP = "11111111-aaaa-4bbb-8ccc-000000000099"
EVERY_SECOND = "* * * * * *"


@pytest.fixture
def instance(broker: Platform, cloud: FakeCloudFoundry) -> str:
    cloud.apps[OTHER_APP] = cloud.apps[APP]
    broker.provision("instance")
    return "instance"


def _soon(seconds: float = 0) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


def _planned(schedule: Schedule) -> Schedule:
    """Return a schedule as the ticker has left it: waiting for its next instant."""
    now = schedule.progress.cursor_at
    return replace(schedule, progress=plan(schedule, Live(), now).progress)


def test_the_last_unbind_pauses_every_enabled_schedule_of_the_app(
    broker: Platform, engine: Engine, instance: str
) -> None:
    # checklist 211
    job, call = make_job(), make_call()
    of_job, of_call = _planned(make_schedule(job)), _planned(make_schedule(call))
    store(engine, job, call, of_job, of_call)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    for schedule in (of_job, of_call):
        progress = progress_of(engine, schedule)
        assert (progress.enabled, progress.paused_by, progress.state) == (False, "unbind", ScheduleState.PAUSED)
        assert progress.next_fire_at is None  # no ticker looks at it again
        assert _updated_at(engine, schedule) > schedule.updated_at


def test_what_is_paused_is_due_no_more(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 211
    job = make_job()
    store(engine, job, _planned(make_schedule(job, expression=EVERY_SECOND)))
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    with engine.begin() as connection:
        connection.execute(schedules.update().values(cursor_at=_soon(-3_600)))
        assert lock_due(connection, limit=10)[1] == []


def test_with_another_binding_left_nothing_is_paused(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 212
    job = make_job()
    schedule = _planned(make_schedule(job))
    store(engine, job, schedule)
    broker.bind(instance, "first")
    broker.bind(instance, "second")
    broker.unbind(instance, "first")
    assert progress_of(engine, schedule) == schedule.progress
    broker.unbind(instance, "second")
    assert not progress_of(engine, schedule).enabled


def test_other_apps_are_left_alone(broker: Platform, engine: Engine, instance: str) -> None:
    job = make_job(app_guid=OTHER_APP)
    schedule = _planned(make_schedule(job))
    store(engine, job, schedule)
    broker.bind(instance, "other", app=OTHER_APP)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    assert progress_of(engine, schedule) == schedule.progress


def test_what_its_owner_has_disabled_is_not_marked_and_stays_disabled(
    broker: Platform, engine: Engine, instance: str
) -> None:
    # checklist 213, 216
    job = make_job()
    schedule = make_schedule(job, enabled=False, paused_by=PausedBy.USER, state=ScheduleState.PAUSED, pause_note="mine")
    store(engine, job, schedule)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    assert progress_of(engine, schedule).paused_by == "user"
    broker.bind(instance, "again")
    progress = progress_of(engine, schedule)
    assert (progress.enabled, progress.paused_by, progress.pause_note) == (False, "user", "mine")


def test_a_pause_that_was_to_end_by_itself_does_not_end_while_the_app_is_unbound(
    broker: Platform, engine: Engine, instance: str
) -> None:
    until = _soon(3_600)
    job = make_job()
    schedule = make_schedule(
        job,
        enabled=False,
        paused_by=PausedBy.USER,
        state=ScheduleState.PAUSED,
        paused_until=until,
        next_fire_at=until,
    )
    store(engine, job, schedule)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    progress = progress_of(engine, schedule)
    assert (progress.paused_until, progress.next_fire_at, progress.paused_by) == (None, None, "user")


def test_deleting_a_service_key_pauses_nothing(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 217
    job = make_job()
    schedule = _planned(make_schedule(job))
    store(engine, job, schedule)
    broker.bind(instance, "key", app=None)
    broker.unbind(instance, "key")
    assert progress_of(engine, schedule) == schedule.progress


def test_jobs_schedules_and_history_stay(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 214
    job = make_job()
    store(engine, job, _planned(make_schedule(job, expression=EVERY_SECOND, cursor_at=_soon(-2))))
    _tick(engine)
    before = _executions(engine)
    assert before
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    with engine.begin() as connection:
        assert get_job(connection, job.guid) == job
    after = _executions(engine)
    assert after[: len(before)] == before
    assert {row.state for row in after} == {"PENDING"}  # what is due is not cancelled by unbinding


def test_what_is_due_at_the_unbind_is_recorded_before_the_pause(
    broker: Platform, engine: Engine, instance: str
) -> None:
    job = make_job()
    schedule = make_schedule(job, expression=EVERY_SECOND, cursor_at=_soon(-3), next_fire_at=_soon(-2))
    store(engine, job, schedule)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    rows = _executions(engine)
    assert len(rows) >= 2
    assert {row.schedule_guid for row in rows} == {schedule.guid}
    assert progress_of(engine, schedule).cursor_at >= rows[-1].scheduled_time


def test_binding_again_resumes_exactly_what_the_unbind_paused(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 215
    job, call = make_job(), make_call()
    running, calling = _planned(make_schedule(job)), _planned(make_schedule(call))
    store(engine, job, call, running, calling)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    assert broker.bind(instance, "again").status_code == 201
    for schedule in (running, calling):
        progress = progress_of(engine, schedule)
        assert (progress.enabled, progress.paused_by, progress.state) == (True, None, ScheduleState.ACTIVE)
        assert progress.next_fire_at is not None
        assert progress.next_fire_at > _soon()


def test_nothing_fires_for_the_time_without_a_binding(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 215: resuming is no catching up
    job = make_job()
    schedule = make_schedule(job, expression=EVERY_SECOND, overlap=Overlap.ALLOW)
    store(engine, job, schedule)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    unbound_at = _soon(-600)
    with engine.begin() as connection:
        connection.execute(schedules.update().values(cursor_at=unbound_at))
        connection.execute(executions.delete())
    broker.bind(instance, "again")
    rows = _executions(engine)
    assert [(row.state, row.reason) for row in rows] == [("SKIPPED", "paused")]
    assert 595 <= rows[0].covers_count <= 605
    _tick(engine)
    assert all(row.scheduled_time > unbound_at + timedelta(seconds=590) for row in _executions(engine))


def test_a_schedule_whose_expression_can_no_longer_be_read_does_not_keep_the_app_from_being_bound(
    broker: Platform, engine: Engine, instance: str
) -> None:
    job = make_job()
    broken, sound = make_schedule(job, expression="TZ=Gone/Away 0 2 * * *"), _planned(make_schedule(job))
    store(engine, job, broken, sound)
    broker.bind(instance, "binding")
    assert broker.unbind(instance, "binding").status_code == 200
    assert not progress_of(engine, broken).enabled
    assert broker.bind(instance, "again").status_code == 201
    assert progress_of(engine, broken).state is ScheduleState.NEEDS_REVIEW
    assert progress_of(engine, sound).state is ScheduleState.ACTIVE


def test_who_unbound_and_what_that_paused_is_written_down(broker: Platform, engine: Engine, instance: str) -> None:
    job = make_job()
    schedule = _planned(make_schedule(job))
    store(engine, job, schedule)
    broker.bind(instance, "binding")
    broker.unbind(instance, "binding")
    broker.bind(instance, "again")
    with engine.connect() as connection:
        events = connection.execute(select(audit_events).order_by(audit_events.c.guid)).all()
    assert [event.action for event in events] == [
        "service_instance.create",
        "binding.create",
        "binding.delete",
        "schedule.pause",
        "binding.create",
        "schedule.resume",
    ]
    assert {event.actor_guid for event in events} == {USER}
    assert {event.space_guid for event in events} == {job.space_guid}


def _updated_at(engine: Engine, schedule: Schedule) -> datetime:
    with engine.connect() as connection:
        query = select(schedules.c.updated_at).where(schedules.c.guid == schedule.guid)
        found: datetime = connection.execute(query).scalar_one()
    return found


def _tick(engine: Engine) -> None:
    with engine.begin() as connection:
        now, due = lock_due(connection, limit=100)
        if now is not None:
            live = read_live(connection, [each.schedule for each in due])
            plans = [(each.schedule, plan(each.schedule, live.get(each.schedule.guid, Live()), now)) for each in due]
            write_plans(connection, plans)


def _executions(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return list(connection.execute(select(executions).order_by(executions.c.scheduled_time)))

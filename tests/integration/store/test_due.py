"""The tick's statements: due schedules are locked once, and plans are written in one go."""

from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import Engine

from scheduler.domain.planning import Plan, PlannedRow
from scheduler.domain.schedules import Schedule
from scheduler.domain.states import ExecutionState, Overlap, Reason, ScheduleState, Trigger
from scheduler.store.due import (
    due_spaces,
    lock_due,
    read_live,
    remove_spent,
    seconds_to_next_wake,
    wake_all,
    write_plans,
)
from scheduler.store.schedules import get_schedule
from scheduler.testing.factories import make_call, make_schedule
from tests.fixtures.rows import InTransaction, Rows

MINUTE = timedelta(minutes=1)


def _row(at: datetime, **fields: object) -> PlannedRow:
    base = {"scheduled_time": at, "state": ExecutionState.PENDING, "trigger": Trigger.SCHEDULE}
    return PlannedRow(**{**base, **fields})  # type: ignore[arg-type]


def _advanced(schedule: Schedule, *rows: PlannedRow, now: datetime) -> Plan:
    progress = replace(schedule.progress, cursor_at=now, next_fire_at=now + MINUTE, last_fire_at=now, run_count=1)
    return Plan(rows=rows, progress=progress)


def test_due_schedules_are_locked_longest_due_first(rows: Rows, in_transaction: InTransaction) -> None:
    call = make_call()
    now = rows.now()
    late, later = (make_schedule(call, next_fire_at=now - MINUTE * minutes) for minutes in (2, 1))
    rows.add(call, later, late, make_schedule(call, next_fire_at=now + MINUTE), make_schedule(call, next_fire_at=None))
    read_at, due = in_transaction(lock_due, limit=10)
    assert [each.schedule.guid for each in due] == [late.guid, later.guid]
    assert all(each.has_parent for each in due)
    assert read_at >= now


def test_two_tickers_never_hold_the_same_schedule(rows: Rows, engine: Engine, in_transaction: InTransaction) -> None:
    call = make_call()
    rows.add(call, *(make_schedule(call, next_fire_at=rows.now()) for _ in range(4)))
    with engine.begin() as first:
        _, mine = lock_due(first, limit=2)
        _, others = in_transaction(lock_due, limit=10)
    assert len(mine) == len(others) == 2
    assert not {each.schedule.guid for each in mine} & {each.schedule.guid for each in others}


def test_spaces_can_have_an_equal_share(rows: Rows, in_transaction: InTransaction) -> None:
    now = rows.now()
    many, few, other = (make_call(space_guid=name, app_guid=name) for name in ("many", "few", "other"))
    flood = [make_schedule(many, next_fire_at=now - MINUTE * minutes) for minutes in (9, 8, 7, 6)]
    single, later = make_schedule(few, next_fire_at=now), make_schedule(few, next_fire_at=now + MINUTE)
    rows.add(many, few, other, *flood, single, later, make_schedule(other, next_fire_at=now))
    read_at, due = in_transaction(lock_due, limit=4, spaces=["many", "few"])
    assert [each.schedule.guid for each in due] == [flood[0].guid, single.guid, flood[1].guid]
    assert read_at is not None
    assert in_transaction(lock_due, limit=4, spaces=[]) == (None, [])


def test_spaces_are_looked_at_some_at_a_time_and_all_in_the_end(rows: Rows, in_transaction: InTransaction) -> None:
    now = rows.now()
    for number in range(5):
        call = make_call(space_guid=f"space-{number}", app_guid=f"app-{number}")
        nexts = (now if number % 2 == 0 else None, now + MINUTE)
        rows.add(call, *(make_schedule(call, next_fire_at=next_fire_at) for next_fire_at in nexts))
    assert in_transaction(due_spaces, after="", limit=3) == (["space-0", "space-2"], "space-2")
    assert in_transaction(due_spaces, after="space-2", limit=3) == (["space-4"], "")
    assert in_transaction(due_spaces, after="space-4", limit=3) == ([], "")


def test_a_schedule_whose_call_is_gone_says_so(rows: Rows, in_transaction: InTransaction) -> None:
    rows.add(make_schedule(make_call(), next_fire_at=rows.now()))
    _, (due,) = in_transaction(lock_due, limit=10)
    assert not due.has_parent


def test_planned_rows_carry_what_the_schedule_says(rows: Rows, in_transaction: InTransaction) -> None:
    call, now = make_call(), rows.now()
    schedule = make_schedule(call, overlap=Overlap.WAIT, start_deadline_seconds=60)
    rows.add(call, schedule)
    assert in_transaction(write_plans, [(schedule, _advanced(schedule, _row(now), now=now))]) == 1
    (row,) = rows.all()
    assert (row.ref_guid, row.space_guid, row.schedule_guid) == (call.guid, call.space_guid, schedule.guid)
    assert (row.state, row.trigger, row.serial, row.scheduled_time) == ("PENDING", "schedule", True, now)
    assert row.start_by - row.created_at == timedelta(seconds=60)


def test_a_serialized_run_has_no_start_deadline(rows: Rows, in_transaction: InTransaction) -> None:
    call, now = make_call(), rows.now()
    schedule = make_schedule(call, overlap=Overlap.SERIALIZE)
    rows.add(call, schedule)
    in_transaction(write_plans, [(schedule, _advanced(schedule, _row(now), now=now))])
    assert rows.all()[0].start_by is None


def test_an_occurrence_is_inserted_once(rows: Rows, in_transaction: InTransaction) -> None:
    call, now = make_call(), rows.now()
    schedule = make_schedule(call)
    rows.add(call, schedule)
    plan = _advanced(schedule, _row(now), now=now)
    assert in_transaction(write_plans, [(schedule, plan)]) == 1
    assert in_transaction(write_plans, [(schedule, plan)]) == 0


def test_the_schedule_advances_with_its_rows(rows: Rows, in_transaction: InTransaction) -> None:
    call, now = make_call(), rows.now()
    ordinary, special = make_schedule(call), make_schedule(call)
    rows.add(call, ordinary, special)
    plans = [(ordinary, _advanced(ordinary, now=now)), (special, _advanced(special, now=now))]
    progress = replace(plans[1][1].progress, state=ScheduleState.NEEDS_REVIEW, missed_count=7)
    plans[1] = (special, replace(plans[1][1], progress=progress))
    in_transaction(write_plans, plans)
    for schedule, plan in plans:
        assert in_transaction(get_schedule, schedule.guid).progress == plan.progress


def test_a_covering_row_grows_in_place(rows: Rows, in_transaction: InTransaction) -> None:
    call, now = make_call(), rows.now()
    schedule = make_schedule(call, overlap=Overlap.SKIP)
    rows.add(call, schedule)
    skipped = {"state": ExecutionState.SKIPPED, "reason": Reason.OVERLAP, "covers_from": now}
    first = _row(now, covers_to=now, covers_count=1, **skipped)
    in_transaction(write_plans, [(schedule, _advanced(schedule, first, now=now))])
    live = in_transaction(read_live, [schedule])[schedule.guid]
    assert live.open_skip.covers_count == 1
    grown = _row(now + MINUTE, covers_to=now + MINUTE, covers_count=2, grows=live.open_skip.guid, **skipped)
    in_transaction(write_plans, [(schedule, _advanced(schedule, grown, now=now + MINUTE))])
    (row,) = rows.all()
    assert (row.scheduled_time, row.covers_from, row.covers_count) == (now + MINUTE, now, 2)


def test_what_is_live_is_read_for_the_schedules_whose_rules_ask_for_it(
    rows: Rows, in_transaction: InTransaction
) -> None:
    call = make_call()
    allowing, skipping = make_schedule(call), make_schedule(call, overlap=Overlap.SKIP)
    rows.add(call, allowing, skipping)
    for schedule in (allowing, skipping):
        rows.execution(call, schedule, state="RUNNING")
        rows.execution(call, schedule)
        rows.execution(call, schedule, state="SUCCEEDED")
    live = in_transaction(read_live, [allowing, skipping])
    assert set(live) == {skipping.guid}
    assert (live[skipping.guid].pending, live[skipping.guid].running) == (1, 1)


def test_the_next_wake_is_that_of_the_earliest_schedule(rows: Rows, in_transaction: InTransaction) -> None:
    assert in_transaction(seconds_to_next_wake) is None
    call = make_call()
    rows.add(call, *(make_schedule(call, next_fire_at=rows.now() + MINUTE * minutes) for minutes in (2, 1)))
    assert 50 < in_transaction(seconds_to_next_wake) <= 60


def test_a_spent_schedule_goes_when_its_execution_has_left_pending(rows: Rows, in_transaction: InTransaction) -> None:
    call = make_call()
    schedule = make_schedule(call, delete_after_run=True, state=ScheduleState.FINISHED)
    rows.add(call, schedule)
    guid = rows.execution(call, schedule)
    assert in_transaction(remove_spent) == 0
    rows.run("UPDATE executions SET state = 'RUNNING' WHERE guid = :guid", guid=guid)
    assert in_transaction(remove_spent) == 1
    assert rows.read(guid).state == "RUNNING"


def test_a_new_tz_database_wakes_every_schedule_that_has_a_next_run(rows: Rows, in_transaction: InTransaction) -> None:
    call = make_call()
    rows.add(call, make_schedule(call, next_fire_at=rows.now() + MINUTE), make_schedule(call, next_fire_at=None))
    assert in_transaction(wake_all) == 1
    assert in_transaction(seconds_to_next_wake) <= 0

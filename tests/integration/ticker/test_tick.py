"""One pass of the ticker over real rows."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from sqlalchemy import Engine, text

from scheduler.domain.schedules import Misfire
from scheduler.domain.states import MisfirePolicy, ScheduleState
from scheduler.store.schedules import get_schedule
from scheduler.testing.factories import make_call, make_schedule
from scheduler_ticker.tick import Ticked, Turns, tick
from tests.fixtures.rows import InTransaction, Rows

EVERY_SECOND = "* * * * * *"
SECOND = timedelta(seconds=1)


def test_nothing_is_due(engine: Engine) -> None:
    assert tick(engine, default_zone="UTC") == Ticked()


def test_each_due_instant_becomes_one_execution(rows: Rows, engine: Engine) -> None:
    call = make_call()
    start = rows.now().replace(microsecond=0) - 10 * SECOND
    schedule = make_schedule(call, expression=EVERY_SECOND, cursor_at=start, next_fire_at=start + SECOND)
    rows.add(call, schedule)
    ticked = tick(engine, default_zone="UTC")
    planned = [row.scheduled_time for row in rows.all()]
    assert planned == [start + SECOND * n for n in range(1, len(planned) + 1)]
    assert ticked.rows == len(planned) >= 10
    assert tick(engine, default_zone="UTC").rows <= 1  # the second that may have begun meanwhile


def test_a_space_with_many_due_schedules_does_not_delay_anothers_single_one(rows: Rows, engine: Engine) -> None:
    now = rows.now()
    many, one = (make_call(space_guid=name, app_guid=name) for name in ("many", "one"))
    flood = [make_schedule(many, next_fire_at=now - SECOND, cursor_at=now) for _ in range(30)]
    single = make_schedule(one, next_fire_at=now, cursor_at=now)
    rows.add(many, one, *flood, single)
    turns, planned = Turns(), []
    while (ticked := tick(engine, default_zone="UTC", limit=10, turns=turns)).more:
        with engine.connect() as connection:
            is_left = connection.execute(
                text("SELECT FROM schedules WHERE guid = :guid AND next_fire_at <= now()"), {"guid": single.guid}
            ).rowcount
        planned.append((ticked.schedules, not is_left))
    assert planned == [(10, False), (6, True), (10, True), (5, True)]


def test_a_ticker_that_was_away_for_long_makes_up_for_it_once(rows: Rows, engine: Engine) -> None:
    call = make_call()
    start = rows.now().replace(microsecond=0) - timedelta(hours=8)
    schedule = make_schedule(call, expression="0 * * * * *", cursor_at=start, next_fire_at=start)
    rows.add(call, schedule)
    tick(engine, default_zone="UTC")
    first, *rest = rows.all()
    assert (first.trigger, first.state) == ("misfire", "PENDING")
    assert first.covers_count >= 478
    assert all(row.trigger == "schedule" for row in rest)


def test_catching_up_goes_on_in_further_passes_behind_the_others(
    rows: Rows, engine: Engine, in_transaction: InTransaction
) -> None:
    call = make_call()
    start = rows.now().replace(microsecond=0) - timedelta(hours=2)
    schedule = make_schedule(
        call,
        expression="0 * * * * *",
        cursor_at=start,
        next_fire_at=start,
        misfire=Misfire(policy=MisfirePolicy.CATCH_UP),
    )
    rows.add(call, schedule)
    passes = []
    while (ticked := tick(engine, default_zone="UTC")).schedules:
        passes.append(ticked.rows)
    assert max(passes) == 50
    assert len(rows.all()) == sum(passes)
    times = [row.scheduled_time for row in rows.all()]
    assert all(later - earlier == timedelta(minutes=1) for earlier, later in pairwise(times))
    assert in_transaction(get_schedule, schedule.guid).progress.state is ScheduleState.ACTIVE


def test_a_schedule_that_cannot_be_planned_does_not_stop_the_others(
    rows: Rows, engine: Engine, in_transaction: InTransaction
) -> None:  # checklist 62
    call = make_call()
    start = rows.now().replace(microsecond=0) - 2 * SECOND
    broken = make_schedule(call, expression="no expression at all", cursor_at=start, next_fire_at=start)
    sound = make_schedule(call, expression=EVERY_SECOND, cursor_at=start, next_fire_at=start)
    rows.add(call, broken, sound)
    tick(engine, default_zone="UTC")
    assert {row.schedule_guid for row in rows.all()} == {sound.guid}
    progress = in_transaction(get_schedule, broken.guid).progress
    assert (progress.state, progress.next_fire_at) == (ScheduleState.NEEDS_REVIEW, None)


def test_a_schedule_whose_call_is_gone_never_fires_and_its_row_stays(
    rows: Rows, engine: Engine, in_transaction: InTransaction
) -> None:  # checklist 61
    schedule = make_schedule(make_call(), expression=EVERY_SECOND, next_fire_at=rows.now())
    rows.add(schedule)
    tick(engine, default_zone="UTC")
    assert rows.all() == []
    assert in_transaction(get_schedule, schedule.guid).progress.next_fire_at is None
    assert tick(engine, default_zone="UTC") == Ticked()


def test_a_disabled_schedule_never_fires(rows: Rows, engine: Engine) -> None:  # checklist 60
    call = make_call()
    rows.add(call, make_schedule(call, expression=EVERY_SECOND, enabled=False, next_fire_at=None))
    assert tick(engine, default_zone="UTC") == Ticked()


@pytest.mark.parametrize("max_rows", [1, 60])
def test_a_transaction_writes_only_so_many_rows(rows: Rows, engine: Engine, max_rows: int) -> None:
    call = make_call()
    start = rows.now().replace(microsecond=0) - 60 * SECOND
    rows.add(
        call,
        *(make_schedule(call, expression=EVERY_SECOND, cursor_at=start, next_fire_at=start) for _ in range(4)),
    )
    ticked = tick(engine, default_zone="UTC", max_rows=max_rows)
    assert ticked.more
    assert ticked.schedules == -(-max_rows // 50)
    while tick(engine, default_zone="UTC", max_rows=max_rows).more:
        pass
    assert len({row.schedule_guid for row in rows.all()}) == 4


def test_a_ticker_that_dies_in_a_pass_has_changed_nothing(
    rows: Rows, engine: Engine, monkeypatch: pytest.MonkeyPatch, in_transaction: InTransaction
) -> None:
    call = make_call()
    start = rows.now().replace(microsecond=0) - 5 * SECOND
    schedule = make_schedule(call, expression=EVERY_SECOND, cursor_at=start, next_fire_at=start)
    rows.add(call, schedule)

    def dying(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("scheduler_ticker.tick.write_plans", dying)
        with pytest.raises(KeyboardInterrupt):
            tick(engine, default_zone="UTC")
    assert rows.all() == []
    assert in_transaction(get_schedule, schedule.guid) == replace(schedule)
    assert tick(engine, default_zone="UTC").rows >= 5

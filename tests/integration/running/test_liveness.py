"""Who lives, who may start something, and who may judge others."""

from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from scheduler.running.liveness import Liveness
from scheduler.runtime.loops import Stop
from scheduler.runtime.timing import Timing
from scheduler.testing.factories import make_job
from tests.fixtures.rows import Rows


@dataclass
class HandTurnedClock:
    """A clock that moves when told to."""

    now: float = 1_000.0

    def __call__(self) -> float:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> HandTurnedClock:
    return HandTurnedClock()


@pytest.fixture
def liveness(engine: Engine, clock: HandTurnedClock) -> Liveness:
    return Liveness(engine, "call-runner", Timing(), clock=clock)


def _processes(rows: Rows) -> list[Any]:
    with rows.engine.connect() as connection:
        return list(connection.exec_driver_sql("SELECT * FROM processes ORDER BY started_at"))


def test_a_process_is_seen_every_ten_seconds(rows: Rows, liveness: Liveness) -> None:
    assert liveness.beat() == 10
    (first,) = _processes(rows)
    liveness.beat()
    (again,) = _processes(rows)
    assert (again.guid, again.service, again.started_at) == (first.guid, "call-runner", first.started_at)
    assert again.seen_at > first.seen_at


def test_nothing_may_be_started_before_the_first_heartbeat(liveness: Liveness) -> None:
    assert not liveness.owns(liveness.generation)
    liveness.beat()
    assert liveness.owns(liveness.generation)


def test_nothing_may_be_started_after_forty_seconds_without_a_heartbeat(
    liveness: Liveness, clock: HandTurnedClock
) -> None:
    """Others declare this process dead after sixty."""
    liveness.beat()
    clock.pass_seconds(40)
    assert liveness.owns(liveness.generation)
    clock.pass_seconds(1)
    assert not liveness.owns(liveness.generation)


def test_a_process_that_stalled_goes_on_as_a_new_generation(
    rows: Rows, liveness: Liveness, clock: HandTurnedClock
) -> None:
    liveness.beat()
    old = liveness.generation
    clock.pass_seconds(41)
    liveness.beat()
    assert liveness.generation != old
    assert liveness.owns(liveness.generation)
    assert not liveness.owns(old)
    assert {row.guid for row in _processes(rows)} == {old, liveness.generation}


def test_what_is_still_under_way_is_kept_alive_with_its_old_generation(
    rows: Rows, liveness: Liveness, clock: HandTurnedClock
) -> None:
    """After an outage of the database its long calls are not taken for lost."""
    liveness.beat()
    old = liveness.generation
    clock.pass_seconds(41)
    liveness.under_way = lambda: {old}
    liveness.beat()
    assert not liveness.owns(old)
    seen = {row.guid: row.seen_at for row in _processes(rows)}
    assert seen[old] == seen[liveness.generation]
    liveness.under_way = set
    liveness.beat()
    seen = {row.guid: row.seen_at for row in _processes(rows)}
    assert seen[old] < seen[liveness.generation]


def test_short_pauses_change_nothing(liveness: Liveness, clock: HandTurnedClock) -> None:
    liveness.beat()
    old = liveness.generation
    for _ in range(5):
        clock.pass_seconds(39)
        liveness.beat()
    assert liveness.generation == old


def test_a_heartbeat_counts_from_before_it_was_sent(
    liveness: Liveness, clock: HandTurnedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was stopped while it waited for the database has not been alive all that time."""
    beat = liveness.engine.begin

    def begin_slowly() -> Any:
        clock.pass_seconds(41)
        return beat()

    monkeypatch.setattr(liveness.engine, "begin", begin_slowly)
    liveness.beat()
    assert not liveness.owns(liveness.generation)


def test_a_ticker_may_judge_others_after_a_minute_of_heartbeats(liveness: Liveness, clock: HandTurnedClock) -> None:
    assert liveness.unbroken_seconds() == 0
    for _ in range(7):
        liveness.beat()
        clock.pass_seconds(10)
    assert liveness.unbroken_seconds() == 70


def test_a_gap_makes_a_ticker_wait_again(liveness: Liveness, clock: HandTurnedClock) -> None:
    """After an outage of the database everybody looks dead for a moment."""
    for _ in range(7):
        liveness.beat()
        clock.pass_seconds(10)
    clock.pass_seconds(60)
    assert liveness.unbroken_seconds() == 0
    liveness.beat()
    clock.pass_seconds(5)
    assert liveness.unbroken_seconds() == 5


def test_a_process_that_leaves_is_forgotten(rows: Rows, liveness: Liveness) -> None:
    liveness.beat()
    liveness.leave()
    assert _processes(rows) == []


def test_a_process_that_leaves_runs_behind_is_remembered_until_they_are_rescued(rows: Rows, liveness: Liveness) -> None:
    liveness.beat()
    rows.execution(make_job(), state="RUNNING", runner=liveness.generation)
    liveness.leave()
    assert len(_processes(rows)) == 1


def test_a_database_that_is_away_is_the_loops_business(rows: Rows, liveness: Liveness) -> None:
    rows.run("ALTER TABLE processes RENAME TO hidden")
    with pytest.raises(SQLAlchemyError):
        liveness.beat()
    stop = Stop()
    stop.set()
    liveness.await_first_beat(stop)
    assert not liveness.owns(liveness.generation)

"""A simple model of what a schedule's rows must say, whatever the policies decided: every due instant exactly once.

It knows nothing of policies. It keeps the definitions with the time during which each was in force, asks their
timetables for every due instant, and looks each one up in the rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID, uuid4

from scheduler.domain.planning import Live, OpenSkip, PlannedRow
from scheduler.domain.schedules import Definition
from scheduler.domain.states import ExecutionState
from scheduler.timetable import compile_timetable


@dataclass
class Row:
    """An execution, as a store would hold it."""

    guid: UUID
    planned: PlannedRow | None  # None: triggered
    state: ExecutionState


@dataclass
class Era:
    """A time during which one definition was in force: its due instants lie in (start, end]."""

    definition: Definition
    start: datetime
    end: datetime | None = None

    def due(self, until: datetime) -> Iterator[datetime]:
        """Yield the era's due instants, up to `until`."""
        timetable = compile_timetable(self.definition, hash_key="")
        instant = timetable.next_after(self.start)
        while instant is not None and instant <= (until if self.end is None else min(until, self.end)):
            yield instant
            instant = timetable.next_after(instant)


@dataclass
class Book:
    """Rows and eras of one schedule."""

    rows: list[Row] = field(default_factory=list)
    eras: list[Era] = field(default_factory=list)

    def write(self, planned: PlannedRow) -> None:
        """Insert or grow a row; the unique key of (schedule, scheduled_time) must not be violated."""
        if planned.grows is not None:
            (row,) = [row for row in self.rows if row.guid == planned.grows]
            assert row.planned is not None
            assert row is self._newest()
            row.planned = replace(planned, grows=None)
            return
        assert planned.scheduled_time not in {row.planned.scheduled_time for row in self._planned() if row.planned}
        self.rows.append(Row(uuid4(), planned, planned.state))

    def write_triggered(self, state: ExecutionState) -> None:
        """Insert the row of a triggered run."""
        self.rows.append(Row(uuid4(), None, state))

    def live(self) -> Live:
        """Return what a ticker would read under the schedule's lock."""
        states = [row.state for row in self.rows]
        newest = self._newest()
        planned = newest.planned if newest is not None and newest.state is ExecutionState.SKIPPED else None
        return Live(
            pending=states.count(ExecutionState.PENDING),
            running=states.count(ExecutionState.RUNNING),
            open_skip=_open_skip(newest.guid, planned) if newest is not None and planned is not None else None,
        )

    def move(self, before: ExecutionState, behind: ExecutionState, number: int) -> None:
        """Let up to `number` executions go on from one state to another, oldest first."""
        for row in [row for row in self.rows if row.state is before][:number]:
            row.state = behind

    def check(self, cursor: datetime) -> None:
        """Hold every due instant up to `cursor` against the rows."""
        instants = [instant for era in self.eras for instant in era.due(cursor)]
        ranges = sorted((_range(row.planned) for row in self._planned() if row.planned), key=lambda found: found[0])
        position = 0
        for first, last, count in ranges:
            covered = instants[position : position + count]
            assert len(covered) == count, f"{first} to {last} covers instants that were never due"
            assert (covered[0], covered[-1]) == (first, last), "an instant has no row, or two"
            position += count
        assert position == len(instants), f"no row for {instants[position:][:3]}"

    def _planned(self) -> Iterator[Row]:
        return (row for row in self.rows if row.planned is not None)

    def _newest(self) -> Row | None:
        planned = [(row.planned.scheduled_time, row) for row in self.rows if row.planned is not None]
        return max(planned, key=lambda pair: pair[0])[1] if planned else None


def _range(row: PlannedRow) -> tuple[datetime, datetime, int]:
    if row.covers_count is None:
        return row.scheduled_time, row.scheduled_time, 1
    assert row.covers_from is not None
    assert row.covers_to == row.scheduled_time
    return row.covers_from, row.scheduled_time, row.covers_count


def _open_skip(guid: UUID, row: PlannedRow) -> OpenSkip:
    assert row.reason is not None
    assert row.covers_from is not None
    assert row.covers_to is not None
    assert row.covers_count is not None
    return OpenSkip(
        guid=guid,
        reason=row.reason,
        covers_from=row.covers_from,
        covers_to=row.covers_to,
        covers_count=row.covers_count,
    )

"""One pass over a schedule's due instants: what has been decided so far, and how the next decision is written down.

Each step deals with instants in order and moves `cursor` behind them, so that every due instant is decided once.
"""

from dataclasses import replace
from datetime import datetime
from enum import Enum, auto
from uuid import UUID

from scheduler.domain.planning import Live, OpenSkip, Plan, PlannedRow
from scheduler.domain.schedules import Progress, Schedule
from scheduler.domain.states import ExecutionState, Reason, Trigger
from scheduler.policies.admission import admits
from scheduler.timetable import Range, Timetable

MAX_ROWS = 50
"""Rows of one schedule in one pass; the rest follows behind the other schedules that are due."""


class Stop(Enum):
    """Why a pass ended before it had dealt with everything up to now."""

    CUT_SHORT = auto()
    FINISHED = auto()
    REVIEW = auto()


class Pass:
    """The decisions of one pass; a plan counts its own rows as live."""

    def __init__(self, schedule: Schedule, timetable: Timetable, live: Live, now: datetime) -> None:
        self.definition = schedule.definition
        self.created_at = schedule.created_at
        self.timetable = timetable
        self.now = now
        self.rows: list[PlannedRow] = []
        self.cursor = schedule.progress.cursor_at
        self.last_fire_at = schedule.progress.last_fire_at
        self.run_count = schedule.progress.run_count
        self.episode_count = schedule.progress.episode_count
        self.missed_count = schedule.progress.missed_count
        self.skipped_count = schedule.progress.skipped_count
        self._pending, self._running = live.pending, live.running
        self._open_skip = live.open_skip

    @property
    def full(self) -> bool:
        """Tell whether no further row may be planned in this pass."""
        return len(self.rows) >= MAX_ROWS

    @property
    def admits(self) -> bool:
        """Tell whether the overlap rule lets the next due instant run."""
        return admits(self.definition.overlap, self._pending, self._running)

    def next_due(self, until: datetime) -> datetime | None:
        """Return the next due instant that is not dealt with, up to `until`."""
        instant = self.timetable.next_after(self.cursor)
        return instant if instant is not None and instant <= until else None

    def due(self, until: datetime) -> Range | None:
        """Return the due instants that are not dealt with, up to `until`."""
        return self.timetable.count_between(self.cursor, until) if self.cursor < until else None

    def run(self, instant: datetime, trigger: Trigger, covers: Range | None = None) -> Stop | None:
        """Plan a run for `instant`, standing for all of `covers` where given."""
        self.rows.append(
            PlannedRow(
                scheduled_time=instant,
                state=ExecutionState.PENDING,
                trigger=trigger,
                covers_from=covers.first if covers else None,
                covers_to=covers.last if covers else None,
                covers_count=covers.count if covers else None,
            )
        )
        self._pending += 1
        self.run_count += 1
        self.last_fire_at = instant
        self.cursor = instant
        limit = self.definition.max_runs
        return Stop.FINISHED if limit is not None and self.run_count >= limit else None

    def skip(self, skipped: Range, reason: Reason) -> None:
        """Record that nothing runs at these instants; consecutive ones lost to an overlap grow one row."""
        self.skipped_count += skipped.count
        self.cursor = skipped.last
        last = self.rows[-1] if self.rows else None
        if reason is not Reason.OVERLAP:
            self.rows.append(_skipped(skipped, reason))
        elif last is not None and last.reason is Reason.OVERLAP:
            self.rows[-1] = _skipped(_joined(last, skipped), reason, last.grows)
        elif last is None and self._open_skip is not None and self._open_skip.reason is Reason.OVERLAP:
            self.rows.append(_skipped(_joined(self._open_skip, skipped), reason, self._open_skip.guid))
        else:
            self.rows.append(_skipped(skipped, reason))

    def skip_all(self, until: datetime, reason: Reason) -> int:
        """Record that nothing runs at any due instant up to `until`; return how many there are."""
        skipped = self.due(until)
        if skipped is None:
            return 0
        self.skip(skipped, reason)
        return skipped.count

    def plan(self, progress: Progress) -> Plan:
        """Return the plan: the rows, and `progress` with what was counted on the way."""
        counted = replace(
            progress,
            cursor_at=self.cursor,
            last_fire_at=self.last_fire_at,
            run_count=self.run_count,
            episode_count=self.episode_count,
            missed_count=self.missed_count,
            skipped_count=self.skipped_count,
        )
        return Plan(rows=tuple(self.rows), progress=counted)


def _joined(row: OpenSkip | PlannedRow, skipped: Range) -> Range:
    assert row.covers_from is not None
    assert row.covers_count is not None
    return Range(row.covers_count + skipped.count, row.covers_from, skipped.last)


def _skipped(covers: Range, reason: Reason, grows: UUID | None = None) -> PlannedRow:
    return PlannedRow(
        scheduled_time=covers.last,
        state=ExecutionState.SKIPPED,
        trigger=Trigger.SCHEDULE,
        reason=reason,
        covers_from=covers.first,
        covers_to=covers.last,
        covers_count=covers.count,
        grows=grows,
    )

"""Schedules for tests of the policies, and what a store would make of plans."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from scheduler.domain.planning import Live, Plan, PlannedRow
from scheduler.domain.schedules import Definition, Misfire, Schedule
from scheduler.domain.states import ExecutionState, MisfirePolicy, RefType
from scheduler.policies import anchored, create_progress, plan

CREATED = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NOTHING = Live()
JOB = UUID(int=1)


def at(text: str) -> datetime:
    """Return an instant of 2026-11-30 UTC, `HH:MM` or `HH:MM:SS`, or any RFC 3339 one."""
    return datetime.fromisoformat(text if "T" in text else f"2026-11-30T{text}+00:00")


def schedule(
    expression: str = "* * * * *", *, created: datetime = CREATED, enabled: bool = True, **definition: Any
) -> Schedule:
    """Return a schedule as it is right after its creation."""
    wanted = anchored(Definition(expression=expression, **definition), now=created)
    return Schedule(
        guid=UUID(int=2),
        ref_type=RefType.JOB,
        ref_guid=JOB,
        space_guid="space",
        definition=wanted,
        progress=create_progress(wanted, now=created, hash_key=str(JOB), enabled=enabled),
        created_at=created,
        updated_at=created,
    )


def missing(policy: MisfirePolicy, **limits: int) -> Misfire:
    """Return misfire rules."""
    return Misfire(policy=policy, **limits)


def after(before: Schedule, planned: Plan) -> Schedule:
    """Return the schedule as it is once the plan is written."""
    return replace(before, progress=planned.progress)


def plan_until_done(before: Schedule, live: Live, now: datetime) -> tuple[Schedule, list[PlannedRow], int]:
    """Plan until a pass is not cut short; return the schedule, all rows and the number of passes."""
    rows: list[PlannedRow] = []
    passes = 0
    while True:
        planned = plan(before, live, now)
        rows += planned.rows
        passes += 1
        before = after(before, planned)
        if planned.progress.next_fire_at != now:
            return before, rows, passes


def runs(rows: list[PlannedRow] | tuple[PlannedRow, ...]) -> list[tuple[str, str]]:
    """Return trigger and time of day of the rows that run."""
    return [(row.trigger.value, f"{row.scheduled_time:%H:%M}") for row in rows if row.state is ExecutionState.PENDING]


def skips(rows: list[PlannedRow] | tuple[PlannedRow, ...]) -> list[tuple[str, str, str, int]]:
    """Return reason, first, last and count of the rows at which nothing runs."""
    return [
        (str(row.reason), f"{row.covers_from:%H:%M}", f"{row.covers_to:%H:%M}", row.covers_count or 0)
        for row in rows
        if row.state is ExecutionState.SKIPPED
    ]

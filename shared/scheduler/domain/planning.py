"""What a ticker decides about one schedule; the values that `scheduler.policies.plan` takes and returns."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from scheduler.domain.schedules import Progress
from scheduler.domain.states import ExecutionState, Reason, Trigger


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenSkip:
    """The schedule's newest planned row, when it is a SKIPPED one that may grow."""

    guid: UUID
    reason: Reason
    covers_from: datetime
    covers_to: datetime
    covers_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Live:
    """What of a schedule is under way, read under its lock."""

    pending: int = 0
    running: int = 0
    open_skip: OpenSkip | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedRow:
    """One execution to insert, or (`grows` set) the new range of one that exists.

    A covering row has `covers_*`, and its `scheduled_time` is `covers_to`.
    """

    scheduled_time: datetime
    state: ExecutionState  # PENDING or SKIPPED
    trigger: Trigger
    reason: Reason | None = None
    covers_from: datetime | None = None
    covers_to: datetime | None = None
    covers_count: int | None = None
    grows: UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Rows to write and the schedule's progress after them."""

    rows: tuple[PlannedRow, ...]
    progress: Progress

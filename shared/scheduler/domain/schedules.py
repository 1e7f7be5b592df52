"""A schedule: its definition (what the user asked for) and its progress (how far planning has come)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from scheduler.domain.states import (
    DayMatch,
    ExpressionType,
    MisfirePolicy,
    OnFold,
    OnGap,
    Overlap,
    PausedBy,
    RefType,
    ResumePolicy,
    ScheduleState,
)

DEFAULT_GRACE_SECONDS = 60
DEFAULT_CATCH_UP_RUNS = 1_000
DEFAULT_CATCH_UP_AGE_SECONDS = 7 * 86_400
DEFAULT_START_DEADLINE_SECONDS = 3_600


@dataclass(frozen=True, kw_only=True, slots=True)
class Misfire:
    """What to do with instants that are more than `grace_seconds` late."""

    policy: MisfirePolicy = MisfirePolicy.RUN_ONCE
    grace_seconds: int = DEFAULT_GRACE_SECONDS
    max_runs: int = DEFAULT_CATCH_UP_RUNS  # per episode of catching up
    max_age_seconds: int = DEFAULT_CATCH_UP_AGE_SECONDS


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """When a schedule fires and under which rules; hashable, so that plans can share work."""

    expression: str
    expression_type: ExpressionType = ExpressionType.CRON
    time_zone: str | None = None  # None: the expression's own, else the service's
    day_match: DayMatch = DayMatch.ALL
    on_gap: OnGap = OnGap.SHIFT
    on_fold: OnFold = OnFold.AUTO
    misfire: Misfire = Misfire()
    overlap: Overlap = Overlap.ALLOW
    start_deadline_seconds: int = DEFAULT_START_DEADLINE_SECONDS  # 0: none
    start_time: datetime | None = None
    end_time: datetime | None = None
    max_runs: int | None = None
    delete_after_run: bool = False
    anchor_at: datetime | None = None  # fixed rates count from here; set at creation and when the interval changes


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """What planning changes. `cursor_at`: every instant up to it is dealt with; `next_fire_at`: when to look again."""

    cursor_at: datetime
    next_fire_at: datetime | None = None  # None: never (paused without end, finished, needs review, parent gone)
    last_fire_at: datetime | None = None
    state: ScheduleState = ScheduleState.ACTIVE
    enabled: bool = True
    paused_by: PausedBy | None = None
    pause_note: str | None = None
    paused_until: datetime | None = None
    resume_policy: ResumePolicy | None = None  # with resume_to: a catch-up after a pause that is under way
    resume_to: datetime | None = None
    run_count: int = 0
    episode_count: int = 0  # runs created in the present episode of catching up
    missed_count: int = 0
    skipped_count: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Schedule:
    """An expression attached to a job or call."""

    guid: UUID
    ref_type: RefType
    ref_guid: UUID
    space_guid: str
    definition: Definition
    progress: Progress
    definition_version: int = 1
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: datetime
    updated_at: datetime

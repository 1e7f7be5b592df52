"""An execution: the record of one run, or of instants at which nothing ran."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from scheduler.domain.states import ExecutionState, Reason, RefType, Trigger


@dataclass(frozen=True, kw_only=True, slots=True)
class Execution:
    """One row of `executions`, as users may see it."""

    guid: UUID
    ref_type: RefType
    ref_guid: UUID
    space_guid: str
    schedule_guid: UUID | None = None
    definition_version: int | None = None
    scheduled_time: datetime | None = None  # None: manual and triggered runs
    trigger: Trigger
    state: ExecutionState
    reason: Reason | None = None
    message: str = ""
    task_guid: str | None = None
    serial: bool = False
    attempt: int = 0
    not_before: datetime | None = None
    look_up_first: bool = False
    cancel_requested_at: datetime | None = None
    created_at: datetime
    queued_at: datetime | None = None
    execution_start_time: datetime | None = None
    execution_end_time: datetime | None = None
    previous_execution_guid: UUID | None = None
    covers_from: datetime | None = None
    covers_to: datetime | None = None
    covers_count: int | None = None
    start_by: datetime | None = None
    http_status: int | None = None
    duration_ms: int | None = None

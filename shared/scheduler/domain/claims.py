"""What a runner holds between claiming an execution and finishing it."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from scheduler.domain.calls import Call
from scheduler.domain.jobs import Job
from scheduler.domain.states import ExecutionState, Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimed:
    """An execution that this runner owns until it writes an outcome with the same token."""

    guid: UUID
    claim_token: UUID
    schedule_guid: UUID | None
    scheduled_time: datetime | None
    created_at: datetime
    started_at: datetime
    first_started_at: datetime  # of the first attempt, from which the age limit of retries counts
    start_by: datetime | None
    attempt: int
    look_up_first: bool
    serial: bool
    previous_execution_guid: UUID | None
    previous_task_guid: str | None = None
    work: Job | Call | None  # None: deleted meanwhile, but a task may exist (look_up_first); or see `fault`
    fault: str = ""  # why the definition cannot be read, as when no key opens its secrets


@dataclass(frozen=True, kw_only=True, slots=True)
class Finish:
    """The run has ended."""

    state: ExecutionState
    reason: Reason | None = None
    message: str = ""
    http_status: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class TryAgain:
    """The attempt failed and another one is due in `delay_seconds`."""

    delay_seconds: float
    reason: Reason | None = None
    message: str = ""
    http_status: int | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class GiveBack:
    """Nothing was started, so the attempt does not count; somebody may claim it in `delay_seconds`.

    `look_up_first` says that a task may exist nevertheless.
    """

    delay_seconds: float = 0
    message: str = ""
    look_up_first: bool = False


Outcome = Finish | TryAgain | GiveBack

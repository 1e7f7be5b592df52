"""What the checker is told: definitions with the time when they came into force, and what was observed.

A change asked for over HTTP comes into force somewhere between the sending of the request and its answer; an instant
within this window may fall under either definition, every other one may not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.faults.oracle import Shape

STARTS_WORK = frozenset({"PENDING", "RUNNING", "SUCCEEDED", "FAILED"})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a schedule asks for when instants were missed or runs overlap."""

    overlap: str = "allow"
    misfire: str = "run_once"
    grace_seconds: int = 60


@dataclass(frozen=True, kw_only=True)
class Phase:
    """A stretch in which one definition is in force, until the next phase."""

    lo: int  # not in force before
    hi: int  # in force from here on
    shape: Shape | None  # None: deleted
    rules: Rules = Rules()
    enabled: bool = True
    resume: str | None = None  # what the request that began this phase said about the instants of the pause before


@dataclass(kw_only=True)
class Timeline:
    """One schedule's phases, in order."""

    guid: str
    kind: str  # call or job
    ref: str
    phases: list[Phase]
    work_deleted: int | None = None  # when the deletion of its job or call was acknowledged


@dataclass(frozen=True, kw_only=True)
class Row:
    """One execution as the database has it."""

    guid: str
    kind: str
    ref: str
    schedule: str | None
    trigger: str
    state: str
    reason: str | None = None
    message: str = ""
    scheduled: int | None = None
    created: int
    queued: int | None = None
    started: int | None = None
    ended: int | None = None
    attempt: int = 0
    serial: bool = False
    covers_from: int | None = None
    covers_to: int | None = None
    covers_count: int | None = None
    task: str | None = None
    key: str | None = None  # of idempotency

    @property
    def covers(self) -> bool:
        """Tell whether the row stands for a range of instants."""
        return self.covers_from is not None

    @property
    def runs(self) -> bool:
        """Tell whether the row is about work, and not about instants at which nothing ran."""
        return self.state in STARTS_WORK


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One request that the endpoint received."""

    execution: str
    schedule: str | None
    attempt: int
    arrived: int
    done: int | None
    status: int | None  # None: the connection was cut after the work


@dataclass(frozen=True, kw_only=True)
class SeenTask:
    """One task that Cloud Controller has."""

    guid: str
    execution: str
    created: int
    state: str
    failure: str | None = None

    @property
    def cancelled(self) -> bool:
        """Tell whether somebody cancelled it."""
        return self.state == "CANCELING" or self.failure == "task was cancelled"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something that went wrong on purpose."""

    kind: str
    target: str
    began: int
    ended: int


@dataclass(frozen=True, kw_only=True)
class Work:
    """A job or call, as far as the checker needs it."""

    guid: str
    kind: str
    max_attempts: int = 1


@dataclass(frozen=True, kw_only=True)
class Observations:
    """Everything that was asked for and everything that was seen."""

    timelines: Sequence[Timeline]
    work: Mapping[str, Work]
    manual: Mapping[str, str]  # key of idempotency: execution, for each acknowledged execute and trigger
    rows: Sequence[Row]
    hits: Sequence[Hit]
    tasks: Sequence[SeenTask]
    faults: Sequence[Fault]
    until: int  # everything was paused by then
    liveness_seconds: float = 60.0
    complaints: Sequence[str] = ()  # answers that nobody should get
    endings: Sequence[str] = ()  # processes that ended unasked, or did not when asked

"""The closed sets of words that executions and schedules use, as stored and as shown."""

from enum import StrEnum


class RefType(StrEnum):
    """What a schedule or an execution refers to."""

    JOB = "job"
    CALL = "call"


class ExecutionState(StrEnum):
    """PENDING -> RUNNING -> SUCCEEDED or FAILED; SKIPPED rows record instants at which nothing runs."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"


class Trigger(StrEnum):
    """Why an execution exists."""

    SCHEDULE = "schedule"
    MANUAL = "manual"
    TRIGGER = "trigger"
    MISFIRE = "misfire"
    CATCH_UP = "catch_up"


class Reason(StrEnum):
    """Why an execution ended as it did, or has not started yet; `message` says it in words."""

    # SKIPPED
    MISFIRE = "misfire"
    OVERLAP = "overlap"
    PAUSED = "paused"
    REVIEW = "review"
    # FAILED before anything was started
    CANCELLED = "cancelled"
    DELETED = "deleted"
    TOO_LATE = "too_late"
    NOT_RECORDED = "not_recorded"  # the claim could not be written, so nothing was started (checklist 170)
    REFUSED = "refused"  # Cloud Controller said no to the task
    DENIED = "denied"  # the call's address is in a denied network
    # FAILED afterwards
    RUNNER_LOST = "runner_lost"  # the runner died in a call; its outcome is unknown
    INTERRUPTED = "interrupted"  # the runner was stopped before the call had ended
    TIMEOUT = "timeout"
    NEVER_STARTED = "never_started"  # Cloud Controller kept the task PENDING for 15 minutes
    TASK_FAILED = "task_failed"
    TASK_GONE = "task_gone"
    HTTP_STATUS = "http_status"
    CONNECT_ERROR = "connect_error"
    TOO_MANY_REDIRECTS = "too_many_redirects"
    INTERNAL_ERROR = "internal_error"  # a fault of the scheduler itself; its log says which
    BAD_REQUEST = "bad_request"  # the definition cannot be turned into a request


class ScheduleState(StrEnum):
    """Shown as `state`; only FINISHED and NEEDS_REVIEW are stored facts, the others follow from `enabled`."""

    ACTIVE = "active"
    PAUSED = "paused"
    FINISHED = "finished"
    NEEDS_REVIEW = "needs_review"


class ExpressionType(StrEnum):
    """How a schedule's expression is to be read (timetables, section 1)."""

    CRON = "cron_expression"
    FIXED_RATE = "fixed_rate"
    ONE_TIME = "one_time"


class DayMatch(StrEnum):
    """Whether a day must match both restricted day fields, or either."""

    ALL = "all"
    ANY = "any"


class OnGap(StrEnum):
    """What becomes of a wall time that the clock jumps over."""

    SHIFT = "shift"
    NEXT_VALID = "next_valid"
    SKIP = "skip"


class OnFold(StrEnum):
    """Which readings of a wall time that happens twice count."""

    AUTO = "auto"
    EARLIER = "earlier"
    LATER = "later"
    BOTH = "both"


class MisfirePolicy(StrEnum):
    """What happens to missed instants."""

    RUN_ONCE = "run_once"
    SKIP = "skip"
    CATCH_UP = "catch_up"


class Overlap(StrEnum):
    """What happens when the previous execution of the schedule is still PENDING or RUNNING."""

    ALLOW = "allow"
    SKIP = "skip"
    WAIT = "wait"
    SERIALIZE = "serialize"


class ResumePolicy(StrEnum):
    """What happens on resuming to the instants that passed during a pause."""

    SKIP_PAUSED = "skip_paused"
    RUN_ONCE = "run_once"
    CATCH_UP = "catch_up"


class PausedBy(StrEnum):
    """Who paused a schedule; a new binding resumes only what an unbind paused."""

    USER = "user"
    UNBIND = "unbind"

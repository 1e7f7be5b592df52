"""States and reasons in words: what happened to a run, and what that means for its user."""

from datetime import datetime

from scheduler.domain.executions import Execution
from scheduler.domain.states import ExecutionState, Reason, Trigger

_REASONS = {
    Reason.MISFIRE: "The scheduler did not run at the time, and the schedule's misfire policy is to skip missed runs.",
    Reason.OVERLAP: "An earlier run of the schedule had not ended, and its overlap rule did not allow another.",
    Reason.PAUSED: "The schedule was paused.",
    Reason.REVIEW: "The schedule had reached a limit of its catch-up and waited for a review.",
    Reason.CANCELLED: "It was cancelled.",
    Reason.DELETED: "Its job, call or schedule was deleted before it was started.",
    Reason.TOO_LATE: "It was not started before its start deadline had passed.",
    Reason.NOT_RECORDED: "Its start could not be recorded in the database, so nothing was started.",
    Reason.REFUSED: "Cloud Controller refused to create the task; the message has its words.",
    Reason.DENIED: "The address of the call is in a network to which calls are not allowed.",
    Reason.RUNNER_LOST: "The process that ran it was lost; whether it had its effect is not known.",
    Reason.INTERRUPTED: "The process that ran it was stopped before the call had ended.",
    Reason.TIMEOUT: "The call did not end within its time limit.",
    Reason.NEVER_STARTED: "Cloud Controller kept the task waiting for 15 minutes; it was then cancelled.",
    Reason.TASK_FAILED: "The task ended with a failure; the message has Cloud Controller's reason.",
    Reason.TASK_GONE: "Cloud Controller does not know the task any more, so its outcome is not known.",
    Reason.HTTP_STATUS: "The answer's status is none that counts as success.",
    Reason.CONNECT_ERROR: "No connection could be made, or it broke before there was a whole answer.",
    Reason.TOO_MANY_REDIRECTS: "The call was redirected more often than it allows.",
    Reason.INTERNAL_ERROR: "The scheduler itself failed; its log says how.",
    Reason.BAD_REQUEST: "The call's definition cannot be turned into a request.",
}
_TRIGGERS = {
    Trigger.SCHEDULE: "It was planned by its schedule.",
    Trigger.MANUAL: "It was started by hand.",
    Trigger.TRIGGER: "Its schedule was triggered by hand.",
    Trigger.MISFIRE: "It makes up for missed runs of its schedule.",
    Trigger.CATCH_UP: "It catches up on a missed run of its schedule.",
}


def explain(execution: Execution) -> str:
    """Return state and reason as sentences."""
    return " ".join(filter(None, [_state(execution), _reason(execution), _covered(execution)]))


def _state(execution: Execution) -> str:
    match execution.state:
        case ExecutionState.PENDING:
            return f"{_TRIGGERS[execution.trigger]} {_waiting(execution)}"
        case ExecutionState.RUNNING:
            asked = " Its cancellation is asked for." if execution.cancel_requested_at else ""
            return f"{_TRIGGERS[execution.trigger]} It is running.{asked}"
        case ExecutionState.SUCCEEDED:
            return f"{_TRIGGERS[execution.trigger]} It has succeeded."
        case ExecutionState.FAILED:
            return f"{_TRIGGERS[execution.trigger]} It has failed."
    return "Nothing was run."


def _waiting(execution: Execution) -> str:
    if execution.attempt:
        return f"It has been tried {_times(execution.attempt)} and is tried again{_not_before(execution.not_before)}."
    if execution.serial:
        return "It waits for its turn: runs of its schedule do not overlap."
    return f"It waits to be started{_not_before(execution.not_before)}."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _not_before(instant: datetime | None) -> str:
    return f", not before {_shown(instant)}" if instant else ""


def _reason(execution: Execution) -> str | None:
    return _REASONS[execution.reason] if execution.reason else None


def _covered(execution: Execution) -> str | None:
    if not execution.covers_count or not execution.covers_from or not execution.covers_to:
        return None
    if execution.covers_count == 1:
        return f"This concerns the due instant {_shown(execution.covers_to)}."
    first, last = _shown(execution.covers_from), _shown(execution.covers_to)
    return f"This concerns {execution.covers_count} due instants, from {first} to {last}."


def _shown(instant: datetime) -> str:
    return instant.isoformat().replace("+00:00", "Z")

"""What a task's state means for the run that it belongs to: a pure decision, time included."""

from dataclasses import dataclass

from scheduler.cloudfoundry.resources import Task, TaskState
from scheduler.domain.claims import Finish
from scheduler.domain.states import ExecutionState, Reason
from scheduler.store.following import Followed
from scheduler_job_runner.waiting import poll_delay


@dataclass(frozen=True, slots=True)
class LookAgain:
    """The task goes on."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Cancel:
    """The task is to be stopped: a user asked for it, or it never started."""

    reason: Reason


Verdict = Finish | LookAgain | Cancel


def judge(followed: Followed, task: Task, *, pending_limit_seconds: float) -> Verdict:
    """Return what is to be done about a task."""
    if task.state is TaskState.SUCCEEDED:
        return Finish(state=ExecutionState.SUCCEEDED)
    if task.state is TaskState.FAILED:
        reason = Reason.CANCELLED if followed.cancel_requested else Reason.TASK_FAILED
        return Finish(state=ExecutionState.FAILED, reason=reason, message=task.failure_reason or "the task failed")
    if task.state is TaskState.CANCELING:
        return LookAgain(poll_delay(0))
    if followed.cancel_requested:
        return Cancel(Reason.CANCELLED)
    if task.state is TaskState.PENDING and followed.age_seconds >= pending_limit_seconds:
        return Cancel(Reason.NEVER_STARTED)
    return LookAgain(poll_delay(followed.age_seconds))


def gone() -> Finish:
    """Return the end of a run whose task Cloud Controller no longer knows."""
    message = "Cloud Controller no longer knows the task: its app was deleted, or the task ended long ago"
    return Finish(state=ExecutionState.FAILED, reason=Reason.TASK_GONE, message=message)


def never_started(limit_seconds: float, cancel_fault: str = "") -> Finish:
    """Return the end of a run whose task stayed PENDING (checklist 160 and 162)."""
    message = f"the task never started: Cloud Controller kept it PENDING for {limit_seconds / 60:g} minutes"
    if cancel_fault:
        message += f"; cancelling it failed, so it may still run: {cancel_fault}"
    return Finish(state=ExecutionState.FAILED, reason=Reason.NEVER_STARTED, message=message)

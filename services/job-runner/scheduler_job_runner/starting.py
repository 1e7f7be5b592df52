"""The start of a job's run: one task is created, and its GUID recorded, whatever Cloud Controller answers or fails to.

The order is: create, record, and in doubt ask for the label again. A creation whose answer was lost leaves the row
with `look_up_first`, and whoever claims it next looks before it creates.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.errors import CannotTellError, DoubtError, RefusedError, WaitError
from scheduler.cloudfoundry.resources import Task
from scheduler.domain.claims import Claimed, Finish, GiveBack, Outcome
from scheduler.domain.jobs import Job
from scheduler.domain.states import ExecutionState, Reason
from scheduler.runtime.loops import describe
from scheduler.runtime.timing import Timing
from scheduler.store.outcomes import mark_looked_up
from scheduler_job_runner.recording import Recorder
from scheduler_job_runner.searching import Search
from scheduler_job_runner.tasks import CommandTooLongError, new_task
from scheduler_job_runner.waiting import start_delay

# A creation that begins no later than this after the claim ends before anybody takes the run for lost.
START_SECONDS = 60.0


@dataclass(frozen=True)
class JobPerformer:
    """What the runner's threads do (`scheduler.running.runner.Performer`)."""

    engine: Engine
    controller: Controller
    search: Search
    recorder: Recorder
    timing: Timing

    def perform(self, claimed: Claimed, may_start: Callable[[], bool]) -> Outcome | None:
        """See that the execution has one task; followers do the rest."""
        begun = time.monotonic()
        if claimed.look_up_first:
            try:
                tasks = self.search.tasks_of(claimed)
                if tasks:
                    return self._take_over(claimed, tasks)
                if refusal := self._refusal(claimed):
                    return refusal
            except (CannotTellError, SQLAlchemyError) as error:
                return _look_later(claimed, error)
        if not isinstance(claimed.work, Job):
            return _deleted(claimed)
        if time.monotonic() - begun > START_SECONDS or not may_start():
            return GiveBack()
        return self._create(claimed, claimed.work)

    def on_stop(self, claimed: Claimed) -> Outcome:  # noqa: ARG002 - the same for all
        """Let another runner look for the task that may be under way."""
        return GiveBack(delay_seconds=self.timing.settle_seconds, look_up_first=True)

    on_fault = on_stop

    def _take_over(self, claimed: Claimed, tasks: Sequence[Task]) -> Outcome | None:
        """Go on with the task of an earlier, doubtful creation; without its job it is cancelled."""
        if isinstance(claimed.work, Job):
            self._record(claimed, tasks[0].guid)
            return None
        for task in tasks:
            self.search.cancel(task.guid)
        return _deleted(claimed)

    def _refusal(self, claimed: Claimed) -> Outcome | None:
        """Return why no task may be created now that none was found."""
        with self.engine.begin() as connection:
            permission = mark_looked_up(connection, claimed.guid, claimed.claim_token)
        if permission is None:  # no longer ours, so whatever we write matches nothing
            return GiveBack(look_up_first=True)
        if permission.is_cancelled:
            return _failed(Reason.CANCELLED, "cancelled before it was started")
        if permission.is_too_late:
            return _failed(Reason.TOO_LATE, "not started in time: its start deadline had passed")
        return None

    def _create(self, claimed: Claimed, job: Job) -> Outcome | None:
        try:
            task = self.controller.create_task(job.app_guid, new_task(job, claimed))
        except CommandTooLongError as error:
            return _failed(Reason.BAD_REQUEST, f"no task for the job {job.name}: {error}")
        except RefusedError as error:
            return _failed(Reason.REFUSED, f"no task for the job {job.name}: {error.detail}")
        except WaitError as error:
            return GiveBack(delay_seconds=_delay(claimed, error.retry_after), message=f"waits: {error}")
        except DoubtError as error:
            return GiveBack(
                delay_seconds=self.timing.settle_seconds,
                message=f"a task may have been created, and is looked for: {error}",
                look_up_first=True,
            )
        self._record(claimed, task.guid)
        return None

    def _record(self, claimed: Claimed, task_guid: str) -> None:
        if self.recorder.record(claimed, task_guid) and claimed.look_up_first:
            self.search.cancel_surplus(claimed, kept=task_guid)


def _delay(claimed: Claimed, retry_after: float | None) -> float:
    return start_delay((datetime.now(UTC) - claimed.created_at).total_seconds(), retry_after)


def _look_later(claimed: Claimed, error: CannotTellError | SQLAlchemyError) -> GiveBack:
    retry_after = error.retry_after if isinstance(error, CannotTellError) else None
    return GiveBack(
        delay_seconds=_delay(claimed, retry_after),
        message=f"whether a task exists cannot be found out yet: {describe(error)}",
        look_up_first=True,
    )


def _failed(reason: Reason, message: str) -> Finish:
    return Finish(state=ExecutionState.FAILED, reason=reason, message=message)


def _deleted(claimed: Claimed) -> Finish:
    if claimed.fault:
        return _failed(Reason.BAD_REQUEST, claimed.fault)
    return _failed(Reason.DELETED, "the job was deleted before this run was started")

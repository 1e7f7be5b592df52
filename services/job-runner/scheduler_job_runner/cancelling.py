"""Stopping one followed task, and what that makes of its run."""

import logging
from dataclasses import dataclass

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.errors import CannotTellError, NotFoundError, RefusedError
from scheduler.domain.states import Reason
from scheduler.store.following import Followed
from scheduler_job_runner.judging import Cancel, LookAgain, Verdict, gone, judge, never_started
from scheduler_job_runner.waiting import poll_delay

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Canceller:
    """Asks Cloud Controller about single tasks."""

    controller: Controller
    pending_limit_seconds: float

    def look_at(self, followed: Followed) -> Verdict:
        """Return the verdict on a task that the list did not show."""
        try:
            task = self.controller.get_task(followed.task_guid)
        except NotFoundError:
            return gone()
        except CannotTellError:
            return LookAgain(poll_delay(followed.age_seconds))
        return judge(followed, task, pending_limit_seconds=self.pending_limit_seconds)

    def cancel(self, followed: Followed, cancel: Cancel) -> Verdict:
        """Cancel a task; one that has ended meanwhile is judged by how it ended."""
        try:
            self.controller.cancel_task(followed.task_guid)
        except NotFoundError:
            return gone()
        except RefusedError:
            return self._look_again_at(followed)
        except CannotTellError as error:
            return self._not_cancelled(followed, cancel, error)
        if cancel.reason is Reason.NEVER_STARTED:
            return never_started(self.pending_limit_seconds)
        return LookAgain(poll_delay(0))

    def _look_again_at(self, followed: Followed) -> Verdict:
        verdict = self.look_at(followed)
        # A second refusal would lead here again: whatever the task is now, a later look decides.
        return LookAgain(poll_delay(0)) if isinstance(verdict, Cancel) else verdict

    def _not_cancelled(self, followed: Followed, cancel: Cancel, error: CannotTellError) -> Verdict:
        _log.error(
            f"A task could not be cancelled: {error}",
            extra={
                "action": "cancel_failed",
                "execution_guid": str(followed.guid),
                "task_guid": followed.task_guid,
                "reason": cancel.reason,
            },
        )
        if cancel.reason is Reason.NEVER_STARTED:
            return never_started(self.pending_limit_seconds, cancel_fault=str(error))
        return LookAgain(poll_delay(0))

"""Looking for the tasks of an execution by their label, and stopping those that should not be."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.errors import CannotTellError, NotFoundError, RefusedError
from scheduler.cloudfoundry.resources import Task
from scheduler.domain.claims import Claimed
from scheduler.domain.jobs import Job

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Search:
    """Asks Cloud Controller; safe to share between threads."""

    controller: Controller

    def tasks_of(self, claimed: Claimed) -> Sequence[Task]:
        """Return the execution's tasks, the oldest first; those of an app that is gone are gone with it.

        Records of tasks that Cloud Controller could not submit are none. Raises CannotTellError.
        """
        app_guid = claimed.work.app_guid if isinstance(claimed.work, Job) else None
        try:
            found = self.controller.find_tasks(app_guid, str(claimed.guid))
        except NotFoundError:
            return []
        return [task for task in found if not task.was_never_submitted]

    def cancel(self, task_guid: str) -> None:
        """Have a task stopped; one that has ended or is gone needs nothing more.

        Raises CannotTellError.
        """
        try:
            self.controller.cancel_task(task_guid)
        except (RefusedError, NotFoundError):
            return

    def cancel_surplus(self, claimed: Claimed, kept: str) -> None:
        """Stop every task of the execution but the one that is kept."""
        try:
            for task in self.tasks_of(claimed):
                if task.guid != kept and not task.state.is_final:
                    self._cancel_surplus(claimed, task.guid)
        except CannotTellError as error:
            _log.error(
                f"Whether an execution has a second task cannot be found out: {error}",
                extra={"action": "surplus_unknown", "execution_guid": str(claimed.guid), "task_guid": kept},
            )

    def _cancel_surplus(self, claimed: Claimed, task_guid: str) -> None:
        self.cancel(task_guid)
        _log.warning(
            "An execution had a second task, which is cancelled.",
            extra={"action": "surplus_cancelled", "execution_guid": str(claimed.guid), "task_guid": task_guid},
        )

"""The GUID of a created task is recorded, whatever it takes; a task that nobody wants to know of is cancelled."""

import logging
from dataclasses import dataclass

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from scheduler.cloudfoundry.errors import CannotTellError
from scheduler.domain.claims import Claimed
from scheduler.domain.states import ExecutionState
from scheduler.runtime.loops import Stop, describe
from scheduler.store.following import record_task, recorded_task
from scheduler_job_runner.searching import Search
from scheduler_job_runner.waiting import poll_delay

_log = logging.getLogger(__name__)

RETRY_SECONDS = 1.0
# How often another runner is given a moment to record the task that it found or created.
PATIENCE = 30


@dataclass(frozen=True)
class Recorder:
    """Safe to share between threads."""

    engine: Engine
    search: Search
    stop: Stop

    def record(self, claimed: Claimed, task_guid: str) -> bool:
        """Record the task; return whether the execution has it now."""
        ids = {"execution_guid": str(claimed.guid), "task_guid": task_guid}
        while True:
            try:
                with self.engine.begin() as connection:
                    matched = record_task(
                        connection, claimed.guid, claimed.claim_token, task_guid, poll_seconds=poll_delay(0)
                    )
                break
            except SQLAlchemyError as error:
                _log.warning(
                    f"A task could not be recorded and is tried again: {describe(error)}",
                    extra={"action": "record_failed", **ids},
                )
                if self.stop.wait(RETRY_SECONDS):
                    return False  # the label finds it
        if matched is not None:
            _log.info("A task was created.", extra={"action": "task_created", **ids})
            return True
        return self._is_named_elsewhere(claimed, task_guid)

    def _is_named_elsewhere(self, claimed: Claimed, task_guid: str) -> bool:
        """Find out whether another runner took our task over; cancel it if not."""
        for _ in range(PATIENCE):
            try:
                with self.engine.begin() as connection:
                    found = recorded_task(connection, claimed.guid)
            except SQLAlchemyError:
                found = (ExecutionState.RUNNING, None)
            if found and found[1] == task_guid:
                return True
            # Whoever claims a PENDING row of this kind looks for the label, and finds this task.
            if found and found[1] is None and found[0] is ExecutionState.PENDING:
                return False
            if not found or found[1] is not None or found[0] is not ExecutionState.RUNNING:
                break
            if self.stop.wait(RETRY_SECONDS):
                return False
        self._cancel(claimed, task_guid)
        return False

    def _cancel(self, claimed: Claimed, task_guid: str) -> None:
        ids = {"execution_guid": str(claimed.guid), "task_guid": task_guid}
        try:
            self.search.cancel(task_guid)
            _log.warning(
                "A task was created for an execution that others had gone on with; it is cancelled.",
                extra={"action": "surplus_cancelled", **ids},
            )
        except CannotTellError as error:
            _log.error(
                f"A task that no execution names could not be cancelled: {error}",
                extra={"action": "surplus_cancel_failed", **ids},
            )

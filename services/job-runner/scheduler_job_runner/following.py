"""Running tasks are looked at until they end: many with one request, the older ones less often."""

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Engine

from scheduler.cloudfoundry.controller import TASKS_PER_REQUEST, Controller
from scheduler.cloudfoundry.errors import CannotTellError
from scheduler.cloudfoundry.resources import Task
from scheduler.domain.claims import Finish
from scheduler.running.metrics import observe_finish
from scheduler.runtime.timing import Timing
from scheduler.store.following import Followed, finish_tasks, look_again, take_due_tasks
from scheduler_job_runner.cancelling import Canceller
from scheduler_job_runner.judging import Cancel, LookAgain, Verdict, judge
from scheduler_job_runner.waiting import poll_delay

_log = logging.getLogger(__name__)

# Between two looks: tasks that come due meanwhile share a request. When more are due than one request can ask for, it
# is shorter, but never so short that Cloud Controller is asked more than five times a second.
GATHER_SECONDS = 1.0
SHORTEST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 30.0

Looked = tuple[Followed, Verdict]


@dataclass
class Follower:
    """One thread calls `run_once`; any number of processes may follow, each takes other tasks."""

    engine: Engine
    controller: Controller
    canceller: Canceller
    timing: Timing
    _failures: int = field(default=0, init=False)

    def run_once(self) -> float:
        """Look at the tasks that are due, as many as one request can ask for; return the seconds to pause."""
        with self.engine.begin() as connection:
            taken = take_due_tasks(connection, limit=TASKS_PER_REQUEST, lease_seconds=self.timing.liveness_seconds)
        if not taken:
            return GATHER_SECONDS
        try:
            tasks = self.controller.tasks(followed.task_guid for followed in taken)
        except CannotTellError as error:
            return self._postpone(taken, error)
        self._failures = 0
        self._settle(taken, tasks)
        return SHORTEST_PAUSE_SECONDS if len(taken) == TASKS_PER_REQUEST else GATHER_SECONDS

    def _settle(self, taken: Sequence[Followed], tasks: Mapping[str, Task]) -> None:
        """Write what the list says first; what needs a request of its own comes after that."""
        limit = self.timing.task_pending_limit_seconds
        looked = [
            (followed, judge(followed, tasks[followed.task_guid], pending_limit_seconds=limit))
            for followed in taken
            if followed.task_guid in tasks
        ]
        self._write([(followed, verdict) for followed, verdict in looked if not isinstance(verdict, Cancel)])
        apart: list[tuple[Followed, Cancel | None]] = [
            *((followed, verdict) for followed, verdict in looked if isinstance(verdict, Cancel)),
            *((followed, None) for followed in taken if followed.task_guid not in tasks),
        ]
        self._settle_apart(apart)

    def _settle_apart(self, apart: Sequence[tuple[Followed, Cancel | None]]) -> None:
        """Cancel, or ask singly, as long as the lease surely lasts; the rest has its turn in the next look."""
        deadline = time.monotonic() + self.timing.liveness_seconds / 3
        for followed, cancel in apart:
            if time.monotonic() > deadline:
                verdict: Verdict = LookAgain(poll_delay(0))
            elif cancel is None:
                verdict = self.canceller.look_at(followed)
            else:
                verdict = self.canceller.cancel(followed, cancel)
            if isinstance(verdict, Cancel):
                verdict = self.canceller.cancel(followed, verdict)
            self._write([(followed, verdict)])

    def _write(self, looked: Sequence[Looked]) -> None:
        ended = [(followed, verdict) for followed, verdict in looked if isinstance(verdict, Finish)]
        going_on = [(followed, verdict.seconds) for followed, verdict in looked if isinstance(verdict, LookAgain)]
        with self.engine.begin() as connection:
            finish_tasks(connection, ended)
            look_again(connection, going_on)
        for _, finish in ended:
            observe_finish(finish)

    def _postpone(self, taken: Sequence[Followed], error: CannotTellError) -> float:
        """Look later, at growing distances while Cloud Controller gives no answer."""
        self._failures += 1
        pause = min(2.0**self._failures, LONGEST_PAUSE_SECONDS)
        pause = max(pause, min(error.retry_after or 0.0, 10 * LONGEST_PAUSE_SECONDS))
        _log.warning(
            f"Tasks cannot be followed at present: {error}",
            extra={"action": "follow_failed", "tasks": len(taken), "pause_seconds": pause},
        )
        with self.engine.begin() as connection:
            look_again(connection, [(followed, pause) for followed in taken])
        return pause

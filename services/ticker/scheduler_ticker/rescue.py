"""Rescue: runs whose runner died are settled, runs that nobody started in time end, dead processes are forgotten.

Only a ticker whose own heartbeat has been unbroken for as long as others need to be counted as dead may judge them:
after an outage of the database everybody looks dead for a moment.
"""

import logging
from dataclasses import dataclass

from sqlalchemy import Engine

from scheduler.running.liveness import Liveness
from scheduler.runtime.timing import Timing
from scheduler.store import rescues
from scheduler.store.due import remove_spent
from scheduler_ticker import metrics

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Rescue:
    """One thread calls `run_once`; any number of tickers may."""

    engine: Engine
    liveness: Liveness
    timing: Timing

    def run_once(self) -> float:
        """Look once; return the seconds to pause."""
        with self.engine.begin() as connection:
            self._report("too_late", rescues.end_too_late(connection), "runs were not started in time and have ended")
        with self.engine.begin() as connection:
            remove_spent(connection)
        if self.liveness.unbroken_seconds() >= self.timing.liveness_seconds:
            self._rescue()
        return self.timing.liveness_seconds / 30

    def _rescue(self) -> None:
        dead, margin = self.timing.liveness_seconds, self.timing.overdue_margin_seconds
        with self.engine.begin() as connection:
            calls = rescues.rescue_calls(connection, dead_seconds=dead, margin_seconds=margin)
        with self.engine.begin() as connection:
            jobs = rescues.rescue_jobs(
                connection, dead_seconds=dead, margin_seconds=margin, settle_seconds=self.timing.settle_seconds
            )
        with self.engine.begin() as connection:
            rescues.forget_dead_processes(connection, dead_seconds=dead)
        self._report("runner_lost", calls, "calls lost their runner; their outcome is unknown")
        self._report("look_up_first", jobs, "jobs lost their runner while it created the task; it is looked for")

    @staticmethod
    def _report(action: str, count: int, sentence: str) -> None:
        metrics.RESCUED.labels(action).inc(count)
        if count:
            _log.warning(f"{count} {sentence}.", extra={"action": action, "executions": count})

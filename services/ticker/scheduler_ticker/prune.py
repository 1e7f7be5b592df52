"""Prune: history and audit events beyond their retention go, batch by batch; what has not ended never does."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Engine

from scheduler.runtime.loops import Stop
from scheduler.store.pruning import prune_audit_events, prune_executions

BATCH = 1_000
PAUSE_SECONDS = 0.05  # between batches, so that everybody else has room


@dataclass(frozen=True, kw_only=True, slots=True)
class Prune:
    """Deletes what is older than the retention."""

    engine: Engine
    stop: Stop
    history_days: int
    audit_days: int

    def history(self, now: datetime) -> int:
        """Delete executions that ended before the retention; return how many."""
        return self._in_batches(prune_executions, before=now - timedelta(days=self.history_days))

    def audit(self, now: datetime) -> int:
        """Delete audit events from before the retention; return how many."""
        return self._in_batches(prune_audit_events, before=now - timedelta(days=self.audit_days))

    def _in_batches(self, delete: Callable[..., int], *, before: datetime) -> int:
        total = 0
        while True:
            with self.engine.begin() as connection:
                count = delete(connection, before=before, limit=BATCH)
            total += count
            if count < BATCH or self.stop.wait(PAUSE_SECONDS):
                return total

"""The lengths of time behind liveness and rescue, all derived from one, so that tests can run them faster."""

from dataclasses import dataclass

LIVENESS_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Timing:
    """`liveness_seconds`: a process that was not seen for so long counts as dead."""

    liveness_seconds: float = LIVENESS_SECONDS

    @property
    def heartbeat_seconds(self) -> float:
        """Distance between two updates of a process's row."""
        return self.liveness_seconds / 6

    @property
    def stall_seconds(self) -> float:
        """A process that finds a longer distance between two of its own updates opens a new generation."""
        return self.liveness_seconds * 2 / 3

    @property
    def presumed_lost_seconds(self) -> float:
        """A row queued for longer may have lost its message."""
        return self.liveness_seconds

    @property
    def overdue_margin_seconds(self) -> float:
        """A run of a living process is rescued when it is so much older than its own time limit."""
        return self.liveness_seconds * 2

    @property
    def settle_seconds(self) -> float:
        """How long Cloud Controller may still be completing a request that we gave up (its own limit is 60 s)."""
        return self.liveness_seconds

    @property
    def task_pending_limit_seconds(self) -> float:
        """A task that stays PENDING for longer was lost by Cloud Controller (checklist 160)."""
        return self.liveness_seconds * 15

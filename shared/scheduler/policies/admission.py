"""Overlap: whether a run may be created while others of its schedule are PENDING or RUNNING."""

from scheduler.domain.planning import Live
from scheduler.domain.states import ExecutionState, Overlap


def admits(overlap: Overlap, pending: int, running: int) -> bool:
    """Tell whether the rule lets one more run be created.

    With `wait` one run may wait. While none is RUNNING, the oldest PENDING one is on its way and does not wait.
    """
    match overlap:
        case Overlap.SKIP:
            return pending + running == 0
        case Overlap.WAIT:
            return pending <= (0 if running else 1)
    return True


def state_of_triggered(overlap: Overlap, live: Live) -> ExecutionState:
    """Return the state in which a triggered run is created: it obeys the overlap rule like any other."""
    return ExecutionState.PENDING if admits(overlap, live.pending, live.running) else ExecutionState.SKIPPED

"""Numbers about runs, for /metrics."""

from datetime import datetime

from prometheus_client import Counter, Gauge, Histogram

from scheduler.domain.claims import Claimed, Finish, GiveBack, Outcome

STARTED = Counter("scheduler_executions_started_total", "Executions that a runner began to perform.")
ENDED = Counter("scheduler_executions_ended_total", "Outcomes that were written.", ["state", "reason"])
AHEAD = Gauge("scheduler_runner_ahead", "How many more runs than it has threads the runner may hold at present.")
LATENESS = Histogram(
    "scheduler_start_lateness_seconds",
    "From the due instant, or the creation of a manual run, to the claim.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600),
)


def observe_start(claimed: Claimed) -> None:
    """Count a start; only a first attempt says something about lateness."""
    STARTED.inc()
    if claimed.attempt == 1:
        LATENESS.observe(max(0.0, (claimed.started_at - _due_at(claimed)).total_seconds()))


def _due_at(claimed: Claimed) -> datetime:
    return claimed.scheduled_time or claimed.created_at


def observe_finish(finish: Finish) -> None:
    """Count the end of a run that was followed."""
    ENDED.labels(finish.state, finish.reason or "").inc()


def observe_end(ended: tuple[Claimed, Outcome]) -> None:
    """Count an outcome that was written."""
    _, outcome = ended
    if isinstance(outcome, Finish):
        observe_finish(outcome)
    else:
        ENDED.labels("PENDING", "given_back" if isinstance(outcome, GiveBack) else "retry").inc()

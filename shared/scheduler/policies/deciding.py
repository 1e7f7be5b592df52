"""The decisions about due instants in their order: a catch-up after a pause, missed instants, instants on time."""

from datetime import datetime, timedelta

from scheduler.domain.schedules import Progress
from scheduler.domain.states import ExpressionType, MisfirePolicy, Reason, Trigger
from scheduler.policies.passing import Pass, Stop


def decide(this: Pass, progress: Progress) -> Stop | None:
    """Decide everything that is due; return why that ended early, if it did."""
    stop = None
    if progress.resume_to is not None:
        stop = _catch_up(this, progress.resume_to)
    return stop or _decide_missed(this) or _decide_on_time(this)


def run_once(this: Pass, until: datetime) -> Stop | None:
    """Make up for everything due up to `until` with one run for the latest instant."""
    missed = this.due(until)
    if missed is None:
        return None
    if this.admits:
        return this.run(missed.last, Trigger.MISFIRE, missed)
    this.skip(missed, Reason.OVERLAP)
    return None


def _decide_missed(this: Pass) -> Stop | None:
    """Apply the misfire policy to what is more than the grace late."""
    misfire = this.definition.misfire
    until = this.now - timedelta(seconds=misfire.grace_seconds) - datetime.resolution
    if this.definition.expression_type is ExpressionType.ONE_TIME and not _missed_its_time(this):
        return None
    if misfire.policy is MisfirePolicy.CATCH_UP:
        return _catch_up(this, until)
    before = this.due(until)
    if before is None:
        return None
    if this.full:
        return Stop.CUT_SHORT
    this.missed_count += before.count
    if misfire.policy is MisfirePolicy.RUN_ONCE:
        return run_once(this, until)
    this.skip(before, Reason.MISFIRE)
    return None


def _missed_its_time(this: Pass) -> bool:
    """Tell whether the misfire rules touch this one-time schedule.

    Only `skip` does, and only when the instant came while the scheduler was down; one that was already past when the
    schedule was made is due at once.
    """
    instant = this.next_due(this.now)
    return this.definition.misfire.policy is MisfirePolicy.SKIP and instant is not None and instant > this.created_at


def _catch_up(this: Pass, until: datetime) -> Stop | None:
    """Make one run per instant up to `until`, oldest first; at either limit make no more and ask for a review."""
    misfire = this.definition.misfire
    oldest = this.now - timedelta(seconds=misfire.max_age_seconds)
    while (instant := this.next_due(until)) is not None:
        if this.full:
            return Stop.CUT_SHORT
        if instant < oldest or this.episode_count >= misfire.max_runs:
            return Stop.REVIEW
        if not this.admits:
            this.missed_count += this.skip_all(until, Reason.OVERLAP)
            return None
        this.missed_count += 1
        this.episode_count += 1
        if (stop := this.run(instant, Trigger.CATCH_UP)) is not None:
            return stop
    return None


def _decide_on_time(this: Pass) -> Stop | None:
    """Run each instant, or record the overlap; once blocked, the rest of the pass is blocked as well."""
    while (instant := this.next_due(this.now)) is not None:
        if this.full:
            return Stop.CUT_SHORT
        if not this.admits:
            this.skip_all(this.now, Reason.OVERLAP)
            return None
        if (stop := this.run(instant, Trigger.SCHEDULE)) is not None:
            return stop
    return None

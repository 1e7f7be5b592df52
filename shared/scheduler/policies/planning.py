"""`plan`: what a ticker does with one due schedule (docs/timetables.md).

Pure: the schedule, what of it is live, and now come in; rows and progress go out. What the rules leave open:

* A pause with `until` ends at that instant, however late the ticker is: what was due before it is recorded as
  `paused`, what is due from it on follows the ordinary rules.
* With overlap `wait`, catching up fills the one waiting place; the other missed instants are recorded as lost to the
  overlap. Who wants each of them run asks for `serialize`.
* The limit of an episode counts runs, over all passes until the schedule has caught up.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from scheduler.domain.planning import Live, Plan, PlannedRow
from scheduler.domain.schedules import Progress, Schedule
from scheduler.domain.states import ExecutionState, Overlap, Reason, ScheduleState, Trigger
from scheduler.policies.deciding import decide
from scheduler.policies.passing import Pass
from scheduler.policies.progress import AT_REST, after_pass, compiled
from scheduler.timetable import Timetable
from scheduler.timetable.compiling import DEFAULT_ZONE


def plan(schedule: Schedule, live: Live, now: datetime, *, default_zone: str = DEFAULT_ZONE) -> Plan:
    """Return the rows to write for everything due up to `now`, at most 50, and the progress after them.

    Raises InvalidInputError when the schedule's expression can no longer be read.
    """
    progress = schedule.progress
    if progress.state in AT_REST:
        return Plan(rows=(), progress=replace(progress, next_fire_at=None))
    if not progress.enabled:
        return _plan_paused(schedule, live, now, default_zone)
    timetable = compiled(schedule, default_zone)
    ordinary = _plan_ordinary(schedule, timetable, live, now)
    return ordinary or plan_in(Pass(schedule, timetable, live, now), progress)


def plan_in(this: Pass, progress: Progress) -> Plan:
    """Finish a pass that has begun: decide what is due and move on."""
    stop = decide(this, progress)
    planned = this.plan(progress)
    return replace(planned, progress=after_pass(planned.progress, stop, this.timetable, this.definition, this.now))


def _plan_paused(schedule: Schedule, live: Live, now: datetime, default_zone: str) -> Plan:
    """Leave a paused schedule alone until its pause ends, if it has an end."""
    progress = schedule.progress
    if progress.paused_until is None or progress.paused_until > now:
        return Plan(rows=(), progress=replace(progress, next_fire_at=progress.paused_until))
    resumed = replace(progress, enabled=True, paused_by=None, pause_note=None, paused_until=None)
    this = Pass(schedule, compiled(schedule, default_zone), live, now)
    this.skip_all(progress.paused_until - datetime.resolution, Reason.PAUSED)
    return plan_in(this, resumed)


def _plan_ordinary(schedule: Schedule, timetable: Timetable, live: Live, now: datetime) -> Plan | None:
    """Return the plan of the ordinary case, one instant due on time and nothing special, None for any other.

    It says nothing that the general way would not say; it is here because a ticker does little else.
    """
    definition, progress = schedule.definition, schedule.progress
    if definition.max_runs is not None or progress.resume_to is not None or progress.episode_count:
        return None
    if definition.overlap is not Overlap.ALLOW and (live.pending or live.running):
        return None
    instant = timetable.next_after(progress.cursor_at)
    if instant is None or not instant <= now <= instant + timedelta(seconds=definition.misfire.grace_seconds):
        return None
    following = timetable.next_after(instant)
    if following is None or following <= now:
        return None
    row = PlannedRow(scheduled_time=instant, state=ExecutionState.PENDING, trigger=Trigger.SCHEDULE)
    moved_on = Progress(
        cursor_at=now,
        next_fire_at=following,
        last_fire_at=instant,
        state=ScheduleState.ACTIVE,
        run_count=progress.run_count + 1,
        missed_count=progress.missed_count,
        skipped_count=progress.skipped_count,
    )
    return Plan(rows=(row,), progress=moved_on)

"""What users and the broker do to a schedule: each returns the rows and the progress to write under its lock.

Before a schedule changes, what is due up to now is dealt with under the old rules; nothing fires because of a change.
Where that takes more than one pass, the rest becomes one SKIPPED row, for the reason `paused` or `review`.
"""

from dataclasses import replace
from datetime import datetime

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.planning import Live, Plan, PlannedRow
from scheduler.domain.schedules import Definition, Progress, Schedule
from scheduler.domain.states import Overlap, PausedBy, Reason, ResumePolicy, ScheduleState
from scheduler.policies.deciding import run_once
from scheduler.policies.passing import Pass
from scheduler.policies.planning import plan
from scheduler.policies.progress import AT_REST, after_pass, compiled, waking, without_episode
from scheduler.policies.rules import CATCH_UP_WITH_SKIP
from scheduler.timetable import compile_timetable
from scheduler.timetable.compiling import DEFAULT_ZONE

_Settled = tuple[tuple[PlannedRow, ...], Progress]


def pause(
    schedule: Schedule,
    live: Live,
    now: datetime,
    *,
    by: PausedBy = PausedBy.USER,
    note: str | None = None,
    until: datetime | None = None,
    default_zone: str = DEFAULT_ZONE,
) -> Plan:
    """Stop new executions; those that exist go on. A paused schedule takes over `by`, `note` and `until`."""
    rows: tuple[PlannedRow, ...] = ()
    progress = schedule.progress
    if progress.enabled:
        rows, progress = _settled(schedule, live, now, Reason.PAUSED, default_zone)
    paused = replace(progress, enabled=False, paused_by=by, pause_note=note, paused_until=until)
    return Plan(rows=rows, progress=_resting(paused))


def resume(
    schedule: Schedule,
    live: Live,
    now: datetime,
    *,
    missed: ResumePolicy = ResumePolicy.SKIP_PAUSED,
    default_zone: str = DEFAULT_ZONE,
) -> Plan:
    """Let a paused schedule run again, and say what becomes of the instants missed meanwhile, however recent.

    A catch-up is made by the ticker, over as many passes as it takes. A schedule that needs a review still needs it.
    Raises InvalidInputError when a catch-up is asked for and the overlap rule is `skip`.
    """
    progress = schedule.progress
    if progress.enabled:
        return Plan(rows=(), progress=progress)
    if missed is ResumePolicy.CATCH_UP and schedule.definition.overlap is Overlap.SKIP:
        raise InvalidInputError(CATCH_UP_WITH_SKIP)
    resumed = replace(progress, enabled=True, paused_by=None, pause_note=None, paused_until=None)
    if progress.state in AT_REST:
        return Plan(rows=(), progress=replace(resumed, next_fire_at=None))
    timetable = compiled(schedule, default_zone)
    if missed is ResumePolicy.CATCH_UP:
        catching_up = replace(resumed, resume_policy=missed, resume_to=now)
        return Plan(rows=(), progress=waking(catching_up, timetable, schedule.definition))
    this = Pass(schedule, timetable, live, now)
    stop = None
    if missed is ResumePolicy.RUN_ONCE:
        stop = run_once(this, now)
    else:
        this.skip_all(now, Reason.PAUSED)
    planned = this.plan(resumed)
    return replace(planned, progress=after_pass(planned.progress, stop, timetable, schedule.definition, now))


def revalidate(schedule: Schedule, now: datetime, *, default_zone: str = DEFAULT_ZONE) -> Plan:
    """Take a schedule out of `needs_review` and go on from now; what was left out is recorded as one SKIPPED row.

    Raises InvalidInputError when the expression still cannot be read.
    """
    progress = schedule.progress
    if progress.state is not ScheduleState.NEEDS_REVIEW:
        return Plan(rows=(), progress=progress)
    timetable = compiled(schedule, default_zone)
    this = Pass(schedule, timetable, Live(), now)
    this.skip_all(now, Reason.REVIEW)
    planned = this.plan(replace(progress, state=ScheduleState.ACTIVE))
    return replace(planned, progress=after_pass(planned.progress, None, timetable, schedule.definition, now))


def edit(
    schedule: Schedule,
    live: Live,
    now: datetime,
    definition: Definition,
    *,
    default_zone: str = DEFAULT_ZONE,
) -> Plan:
    """Plan to `now` under the old definition and go on from `now` under the new one (already `anchored`).

    A paused schedule stays paused, one that needs a review still needs it, and a finished one is active again when
    the new definition has a run to come. A one-time instant that is already past does not run.
    Raises InvalidInputError when the new expression cannot be read.
    """
    timetable = compile_timetable(definition, hash_key=str(schedule.ref_guid), default_zone=default_zone)
    rows, progress = _closed(schedule, live, now, default_zone)
    fresh = replace(without_episode(progress), cursor_at=max(progress.cursor_at, now))
    if fresh.state is not ScheduleState.NEEDS_REVIEW:
        fresh = replace(fresh, state=ScheduleState.ACTIVE)
    return Plan(rows=rows, progress=waking(fresh, timetable, definition))


def unbind(schedule: Schedule, live: Live, now: datetime, *, default_zone: str = DEFAULT_ZONE) -> Plan:
    """Pause because the app lost its last binding. What its owner paused stays the owner's, but without an end."""
    if schedule.progress.enabled:
        return pause(schedule, live, now, by=PausedBy.UNBIND, default_zone=default_zone)
    return Plan(rows=(), progress=_resting(replace(schedule.progress, paused_until=None)))


def rebind(schedule: Schedule, live: Live, now: datetime, *, default_zone: str = DEFAULT_ZONE) -> Plan:
    """Resume because the app is bound again, but only what an unbind paused."""
    if schedule.progress.paused_by is not PausedBy.UNBIND:
        return Plan(rows=(), progress=schedule.progress)
    return resume(schedule, live, now, default_zone=default_zone)


def end_of_parent(schedule: Schedule) -> Plan:
    """Never look again at a schedule whose job or call is gone; its row stays for an admin to find."""
    return Plan(rows=(), progress=replace(schedule.progress, next_fire_at=None))


def _settled(schedule: Schedule, live: Live, now: datetime, rest: Reason, default_zone: str) -> _Settled:
    """Plan an enabled schedule to `now`; what one pass leaves over is recorded as one SKIPPED row.

    A schedule in review keeps what it has left out until it is revalidated. One whose expression can no longer be
    read has nothing that could be planned.
    """
    if schedule.progress.state in AT_REST:
        return (), schedule.progress
    try:
        planned = plan(schedule, live, now, default_zone=default_zone)
        timetable = compiled(schedule, default_zone)
    except InvalidInputError:
        return (), schedule.progress
    progress = planned.progress
    if progress.state in AT_REST or progress.cursor_at >= now:
        return planned.rows, progress
    remainder = Pass(replace(schedule, progress=progress), timetable, live, now)
    remainder.skip_all(now, rest)
    left = remainder.plan(progress)
    return (*planned.rows, *left.rows), after_pass(left.progress, None, timetable, schedule.definition, now)


def _closed(schedule: Schedule, live: Live, now: datetime, default_zone: str) -> _Settled:
    """Deal with everything up to `now` for good, whatever state the schedule is in."""
    rows: tuple[PlannedRow, ...] = ()
    progress = schedule.progress
    if progress.enabled:
        rows, progress = _settled(schedule, live, now, Reason.REVIEW, default_zone)
    if progress.state is ScheduleState.FINISHED or progress.cursor_at >= now:
        return rows, progress
    reason = Reason.REVIEW if progress.state is ScheduleState.NEEDS_REVIEW else Reason.PAUSED
    try:
        timetable = compiled(schedule, default_zone)
    except InvalidInputError:
        return rows, progress
    rest = Pass(replace(schedule, progress=progress), timetable, Live(), now)
    rest.skip_all(now, reason)
    left = rest.plan(progress)
    return (*rows, *left.rows), left.progress


def _resting(progress: Progress) -> Progress:
    """Return a paused schedule's progress with state and wake time as they follow from the rest."""
    if progress.state in AT_REST:
        return replace(progress, next_fire_at=None)
    return replace(progress, state=ScheduleState.PAUSED, next_fire_at=progress.paused_until)

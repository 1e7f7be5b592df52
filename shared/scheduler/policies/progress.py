"""A schedule's progress at its turning points: made, ended, at rest, awake again."""

from dataclasses import replace
from datetime import datetime

from scheduler.domain.schedules import Definition, Progress, Schedule
from scheduler.domain.states import ExpressionType, PausedBy, ScheduleState
from scheduler.policies.passing import Stop
from scheduler.timetable import Timetable, compile_timetable
from scheduler.timetable.compiling import DEFAULT_ZONE

AT_REST = frozenset({ScheduleState.FINISHED, ScheduleState.NEEDS_REVIEW})
"""States in which nothing is planned."""


def create_progress(
    definition: Definition,
    *,
    now: datetime,
    hash_key: str,
    default_zone: str = DEFAULT_ZONE,
    enabled: bool = True,
) -> Progress:
    """Return the progress of a new schedule: its first instant is the first after `now`.

    A one-time schedule whose instant is already past is due at once. One that is created disabled is paused by its
    user. Raises InvalidInputError when the expression cannot be read.
    """
    timetable = compile_timetable(definition, hash_key=hash_key, default_zone=default_zone)
    cursor = now
    if definition.expression_type is ExpressionType.ONE_TIME and timetable.next_after(now) is None:
        past = timetable.previous_before(now + datetime.resolution)
        cursor = past - datetime.resolution if past is not None else now
    progress = Progress(cursor_at=cursor, enabled=enabled, paused_by=None if enabled else PausedBy.USER)
    return waking(progress, timetable, definition)


def anchored(definition: Definition, *, now: datetime, previous: Definition | None = None) -> Definition:
    """Return `definition` with the anchor of its fixed rate: `now`, or the previous one while the interval stays."""
    if previous is not None and _rhythm(previous) == _rhythm(definition):
        return replace(definition, anchor_at=previous.anchor_at)
    return replace(definition, anchor_at=now)


def replan_next_fire(schedule: Schedule, *, default_zone: str = DEFAULT_ZONE) -> Progress:
    """Return the progress with its wake time worked out anew from the cursor, for a newer time zone database."""
    return waking(schedule.progress, compiled(schedule, default_zone), schedule.definition)


def compiled(schedule: Schedule, default_zone: str) -> Timetable:
    """Return the schedule's timetable; H is keyed by the GUID of its job or call.

    Raises InvalidInputError, for instance when a newer time zone database has dropped the zone.
    """
    return compile_timetable(schedule.definition, hash_key=str(schedule.ref_guid), default_zone=default_zone)


def waking(progress: Progress, timetable: Timetable, definition: Definition) -> Progress:
    """Return the progress with state and wake time as they follow from the rest: finished when nothing is to come."""
    if progress.state is ScheduleState.NEEDS_REVIEW:
        return replace(progress, next_fire_at=None)
    following = timetable.next_after(progress.cursor_at)
    spent = definition.max_runs is not None and progress.run_count >= definition.max_runs
    if following is None or spent:
        return replace(progress, state=ScheduleState.FINISHED, next_fire_at=None)
    if not progress.enabled:
        return replace(progress, state=ScheduleState.PAUSED, next_fire_at=progress.paused_until)
    return replace(progress, state=ScheduleState.ACTIVE, next_fire_at=following)


def after_pass(
    progress: Progress, stop: Stop | None, timetable: Timetable, definition: Definition, now: datetime
) -> Progress:
    """Return the progress behind a pass that ended for the reason `stop`."""
    match stop:
        case Stop.CUT_SHORT:
            return replace(progress, next_fire_at=now)
        case Stop.REVIEW:
            return replace(progress, state=ScheduleState.NEEDS_REVIEW, next_fire_at=None)
        case Stop.FINISHED:
            return replace(without_episode(progress), state=ScheduleState.FINISHED, next_fire_at=None)
    dealt_with = replace(without_episode(progress), cursor_at=max(progress.cursor_at, now))
    return waking(dealt_with, timetable, definition)


def without_episode(progress: Progress) -> Progress:
    """Return the progress with its episode of catching up closed."""
    return replace(progress, episode_count=0, resume_policy=None, resume_to=None)


def _rhythm(definition: Definition) -> tuple[str, str]:
    return definition.expression_type, definition.expression.strip()

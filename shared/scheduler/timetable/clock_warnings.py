"""Warnings about clock changes ahead: which wall times are skipped or repeated, when, and what happens then."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler.domain.errors import Finding
from scheduler.domain.schedules import Definition
from scheduler.domain.states import OnFold, OnGap
from scheduler.timetable.clock import Change
from scheduler.timetable.contract import naive_utc
from scheduler.timetable.cron import CronTimetable
from scheduler.timetable.walls import WallTimes

_ONE_YEAR = timedelta(days=366)
_TICK = datetime.resolution
_HOURS_OF_DAY = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Affected:
    """The wall times of a schedule that a change skips or repeats."""

    change: Change
    first: datetime
    last: datetime
    coincides: bool = False  # where the first is moved to, a run is due anyway


def clock_warnings(
    timetable: CronTimetable, definition: Definition, now: datetime, last_listed: datetime | None
) -> list[Finding]:
    """Return `dst_skipped` and `dst_repeated` for twelve months, or up to the last listed run where that is later.

    Only schedules that restrict the hour are looked at: losing or repeating one of every hour's runs is expected.
    """
    if len(timetable.walls.times.hours) >= _HOURS_OF_DAY:
        return []
    until = max(now + _ONE_YEAR, last_listed + _TICK) if last_listed else now + _ONE_YEAR
    changes = timetable.clock.changes(naive_utc(now), naive_utc(until))
    affected = (_affected(timetable.walls, change, definition.on_gap) for change in changes)
    return [warning_about(each, timetable.location, definition) for each in affected if each is not None]


def warning_about(affected: Affected, zone: str, definition: Definition) -> Finding:
    """Return the warning for one change of the clock."""
    one = affected.first == affected.last
    times = _clock(affected.first) if one else f"{_clock(affected.first)} to {_clock(affected.last)}"
    when = f"{times} on {affected.first:%Y-%m-%d}"
    if affected.change.is_gap:
        then = _after_gap(affected, definition.on_gap, one=one)
        message = f"{when} {'does' if one else 'do'} not exist in {zone}; {then}"
        return Finding(code="dst_skipped", message=message, value=times)
    then = _after_fold(definition.on_fold, one=one)
    return Finding(
        code="dst_repeated", message=f"{when} happen{'s' if one else ''} twice in {zone}; {then}", value=times
    )


def _affected(walls: WallTimes, change: Change, on_gap: OnGap) -> Affected | None:
    first = walls.next_after(change.wall_start - _TICK, change.wall_end.year)
    if first is None or first >= change.wall_end:
        return None
    last = walls.previous_before(change.wall_end, change.wall_start.year)
    assert last is not None
    moved = change.wall_end if on_gap is OnGap.NEXT_VALID else first + change.length
    return Affected(change=change, first=first, last=last, coincides=walls.matches(moved))


def _after_gap(affected: Affected, on_gap: OnGap, *, one: bool) -> str:
    if on_gap is OnGap.SKIP:
        return "that run is skipped" if one else "those runs are skipped"
    subject = "it" if one else "they"
    if on_gap is OnGap.NEXT_VALID:
        moved = _clock(affected.change.wall_end)
        return (
            f"{subject} coincide{'s' if one else ''} with the run at {moved}"
            if affected.coincides
            else (f"it runs at {moved}" if one else f"they become one run at {moved}")
        )
    moved = _clock(affected.first + affected.change.length)
    if one:
        return f"it coincides with the run at {moved}" if affected.coincides else f"it runs at {moved}"
    return f"they run at {moved} to {_clock(affected.last + affected.change.length)}"


def _after_fold(on_fold: OnFold, *, one: bool) -> str:
    subject = "it runs" if one else "they run"
    match on_fold:
        case OnFold.EARLIER:
            return f"{subject} once, the first time"
        case OnFold.LATER:
            return f"{subject} once, the second time"
        case OnFold.BOTH:
            return f"{subject} twice"
    return "it runs once, the first time" if one else "they run twice"


def _clock(wall: datetime) -> str:
    return f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"

"""Due instants of a cron expression: wall times of the fields, read on the clock of a zone.

Around a change of the clock, `on_gap` and `on_fold` decide (timetables, section 3):

* A gap. `shift` reads a skipped wall time with the offset that held before, which moves it on by the gap's length;
  `next_valid` puts it at the first instant after the gap; `skip` drops it. What lands on one instant runs once.
* A fold. `earlier` and `later` keep one reading, `both` keeps both. `auto` drops a run that repeats the wall time of
  the run just before it; that is the case exactly when a single wall time of the schedule lies in the fold.
"""

from datetime import UTC, datetime

from scheduler.domain.states import OnFold, OnGap
from scheduler.timetable.clock import Change, Stretch, ZoneClock
from scheduler.timetable.contract import HORIZON_YEARS, Timetable, naive_utc
from scheduler.timetable.walls import FIRST_YEAR, LAST_YEAR, WallTimes

_TICK = datetime.resolution
_MEMO_SIZE = 256
_EARLIEST = datetime(FIRST_YEAR, 1, 2)  # noqa: DTZ001 - naive UTC
_LATEST = datetime(LAST_YEAR, 12, 30)  # noqa: DTZ001 - naive UTC


class CronTimetable(Timetable):
    """Wall times on a clock."""

    def __init__(self, walls: WallTimes, clock: ZoneClock, location: str, on_gap: OnGap, on_fold: OnFold) -> None:
        self.location = location
        self.walls, self.clock = walls, clock
        self._on_gap, self._on_fold = on_gap, on_fold
        self._memo: dict[datetime, datetime | None] = {}

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first due instant after `instant`; remembered, because many schedules ask the same."""
        try:
            return self._memo[instant]
        except KeyError:
            found = self._next(_bounded(naive_utc(instant)))
            result = found.replace(tzinfo=UTC) if found else None
            if len(self._memo) >= _MEMO_SIZE:
                self._memo = {}
            self._memo[instant] = result
            return result

    def previous_before(self, instant: datetime) -> datetime | None:
        """Return the last due instant before `instant`."""
        found = self._previous(_bounded(naive_utc(instant)))
        return found.replace(tzinfo=UTC) if found else None

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many due instants lie in (after, until]."""
        start, end = _bounded(naive_utc(after)) + _TICK, _bounded(naive_utc(until)) + _TICK
        return sum(self._count_in(stretch, start, end) for stretch in self.clock.stretches(start, end))

    def _next(self, utc: datetime) -> datetime | None:
        last_year = utc.year + HORIZON_YEARS
        stretch: Stretch | None = self.clock.stretch_at(utc)
        while stretch is not None:
            after = max(utc, stretch.start - _TICK)
            wall = self.walls.next_after(self._search_from(stretch, after), last_year)
            found = _earliest(self._reading(stretch, wall), self._first_moved(stretch, after))
            if found is not None:
                return found
            if stretch.left is not None and not stretch.left.is_gap:
                stretch = self.clock.stretch_at(stretch.end)  # wall times that are past come again
            elif wall is None:
                return None
            else:
                stretch = self.clock.stretch_after(stretch, wall)
        return None

    def _previous(self, utc: datetime) -> datetime | None:
        first_year = utc.year - HORIZON_YEARS
        stretch: Stretch | None = self.clock.stretch_at(utc - _TICK)
        while stretch is not None and stretch.end.year >= first_year:
            before = min(utc, stretch.end)
            wall = self.walls.previous_before(min(before + stretch.offset, self._ceiling(stretch)), first_year)
            found = _latest(self._reading(stretch, wall), self._last_moved(stretch, before))
            if found is not None:
                return found
            if wall is None and (stretch.entered is None or stretch.entered.is_gap):
                return None
            stretch = self.clock.stretch_before(stretch)
        return None

    def _count_in(self, stretch: Stretch, start: datetime, end: datetime) -> int:
        start, end = max(start, stretch.start), min(end, stretch.end)
        low = max(start + stretch.offset, self._floor(stretch))
        high = min(end + stretch.offset, self._ceiling(stretch))
        return self.walls.count(low, high) + self._count_moved(stretch, start, end)

    def _search_from(self, stretch: Stretch, after: datetime) -> datetime:
        """Return the wall time after which the next reading in `stretch` is to be looked for."""
        wall = after + stretch.offset
        if stretch.entered is None or stretch.entered.is_gap or wall >= stretch.entered.wall_end:
            return wall
        return max(wall, self._floor(stretch) - _TICK)

    def _floor(self, stretch: Stretch) -> datetime:
        """Return the first wall time that counts in `stretch`."""
        change = stretch.entered
        if change is not None and not change.is_gap and self._drops_later_readings(change):
            return change.wall_end
        return stretch.start + stretch.offset

    def _ceiling(self, stretch: Stretch) -> datetime:
        """Return the first wall time that no longer counts in `stretch`."""
        change = stretch.left
        if change is not None and not change.is_gap and self._on_fold is OnFold.LATER:
            return change.wall_start
        return stretch.end + stretch.offset

    def _reading(self, stretch: Stretch, wall: datetime | None) -> datetime | None:
        """Return the instant of `wall` in `stretch`, if it counts there."""
        if wall is None or wall >= self._ceiling(stretch) or wall < self._floor(stretch):
            return None
        return wall - stretch.offset

    def _drops_later_readings(self, fold: Change) -> bool:
        if self._on_fold is OnFold.AUTO:
            return not self._several_in(fold)
        return self._on_fold is OnFold.EARLIER

    def _several_in(self, change: Change) -> bool:
        """Tell whether more than one wall time of the schedule lies in what is skipped or repeated."""
        first = self._first_wall(change, change.wall_start - _TICK)
        return first is not None and self._first_wall(change, first) is not None

    def _first_wall(self, change: Change, after: datetime) -> datetime | None:
        """Return the schedule's first wall time after `after` in what is skipped or repeated."""
        wall = self.walls.next_after(after, change.wall_end.year)
        return wall if wall is not None and wall < change.wall_end else None

    def _first_moved(self, stretch: Stretch, after: datetime) -> datetime | None:
        """Return the first instant after `after` to which a wall time skipped on entering `stretch` is moved."""
        gap = stretch.entered
        if gap is None or not gap.is_gap or self._on_gap is OnGap.SKIP or after >= gap.at + gap.length:
            return None
        if self._on_gap is OnGap.NEXT_VALID:
            some = after < gap.at and self._first_wall(gap, gap.wall_start - _TICK) is not None
            return gap.at if some else None
        wall = self._first_wall(gap, max(after + gap.before, gap.wall_start - _TICK))
        return wall - gap.before if wall is not None else None

    def _last_moved(self, stretch: Stretch, before: datetime) -> datetime | None:
        gap = stretch.entered
        if gap is None or not gap.is_gap or self._on_gap is OnGap.SKIP or before <= gap.at:
            return None
        if self._on_gap is OnGap.NEXT_VALID:
            return gap.at if self._first_wall(gap, gap.wall_start - _TICK) is not None else None
        wall = self.walls.previous_before(min(before + gap.before, gap.wall_end), gap.wall_start.year)
        return wall - gap.before if wall is not None and wall >= gap.wall_start else None

    def _count_moved(self, stretch: Stretch, start: datetime, end: datetime) -> int:
        """Return how many instants in [start, end) come only from wall times skipped on entering `stretch`."""
        gap = stretch.entered
        if gap is None or not gap.is_gap or self._on_gap is OnGap.SKIP:
            return 0
        if self._on_gap is OnGap.NEXT_VALID:
            some = start <= gap.at < end and self._first_wall(gap, gap.wall_start - _TICK) is not None
            return 1 if some and not self.walls.matches(gap.wall_end) else 0
        low, high = max(start + gap.before, gap.wall_start), min(end + gap.before, gap.wall_end)
        return sum(not self.walls.matches(wall + gap.length) for wall in self.walls.between(low, high))


def _earliest(first: datetime | None, second: datetime | None) -> datetime | None:
    if first is None or second is None:
        return second or first
    return min(first, second)


def _latest(first: datetime | None, second: datetime | None) -> datetime | None:
    if first is None or second is None:
        return second or first
    return max(first, second)


def _bounded(utc: datetime) -> datetime:
    """Return `utc`, moved inside the years in which every zone's wall time is a valid datetime."""
    return min(max(utc, _EARLIEST), _LATEST)

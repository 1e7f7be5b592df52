"""A zone's clock: where its offset changes, and the stretches in between on which wall time runs evenly.

`zoneinfo` says which offset holds when, but not when it changes; the changes are found by asking it once a week and
halving the interval, year by year as they are needed. No zone has changed its clock and back within a week since
1970 (a test asks every zone). All datetimes here are naive: instants in UTC, or wall times where so named.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import pairwise

from scheduler.timetable.zones import load_zone

_PROBE_DISTANCE = timedelta(days=7)
_LARGEST_OFFSET_CHANGE = timedelta(days=2)  # an ample bound: the date line is one day wide
_SECOND = timedelta(seconds=1)
_FIRST_YEAR, _LAST_YEAR = 2, 9_997


@dataclass(frozen=True, slots=True)
class Change:
    """The clock is put forward (a gap in wall time) or back (a fold: wall time that happens twice)."""

    at: datetime
    before: timedelta
    after: timedelta

    @property
    def is_gap(self) -> bool:
        """Tell whether wall time is skipped; otherwise it is repeated."""
        return self.after > self.before

    @property
    def length(self) -> timedelta:
        """Return how much wall time is skipped or repeated."""
        return abs(self.after - self.before)

    @property
    def wall_start(self) -> datetime:
        """Return the first wall time that is skipped or repeated."""
        return self.at + min(self.before, self.after)

    @property
    def wall_end(self) -> datetime:
        """Return the first wall time behind those that are skipped or repeated."""
        return self.at + max(self.before, self.after)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time without a change, at most a year long; `entered` and `left` are the changes at its ends, if any."""

    start: datetime
    end: datetime
    offset: timedelta
    entered: Change | None = None
    left: Change | None = None


class ZoneClock:
    """The stretches of one zone, worked out for the years that have been asked for."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._changes: dict[int, tuple[Change, ...]] = {}
        self._stretches: dict[int, tuple[Stretch, ...]] = {}
        self._steady: Stretch | None = None
        if isinstance(zone, timezone):  # UTC and fixed offsets
            self._steady = Stretch(_start_of(_FIRST_YEAR), _start_of(_LAST_YEAR + 1), zone.utcoffset(None))

    def stretch_at(self, utc: datetime) -> Stretch:
        """Return the stretch that holds the instant `utc`."""
        if self._steady:
            return self._steady
        stretches = self._stretches.get(utc.year) or self._work_out(utc.year)
        return next(stretch for stretch in stretches if utc < stretch.end)

    def stretch_after(self, stretch: Stretch, wall: datetime) -> Stretch | None:
        """Return the first stretch behind `stretch` whose wall times reach beyond `wall`, if the calendar has one."""
        utc = max(stretch.end, wall - stretch.offset - _LARGEST_OFFSET_CHANGE)
        while utc.year <= _LAST_YEAR:
            found = self.stretch_at(utc)
            if found.end + found.offset > wall:
                return found
            utc = found.end
        return None

    def stretch_before(self, stretch: Stretch) -> Stretch | None:
        """Return the stretch in front of `stretch`; None at the calendar's start."""
        if stretch is self._steady or stretch.start.year < _FIRST_YEAR:
            return None
        return self.stretch_at(stretch.start - _SECOND)

    def stretches(self, start: datetime, end: datetime) -> Iterator[Stretch]:
        """Yield the stretches that overlap [start, end)."""
        while start < end:
            stretch = self.stretch_at(start)
            yield stretch
            start = stretch.end

    def changes(self, start: datetime, end: datetime) -> tuple[Change, ...]:
        """Return the changes in [start, end)."""
        if self._steady:
            return ()
        years = range(start.year, end.year + 1)
        return tuple(change for year in years for change in self._changes_in(year) if start <= change.at < end)

    def change_at_wall(self, wall: datetime) -> Change | None:
        """Return the change that skips or repeats the wall time `wall`."""
        if not _FIRST_YEAR < wall.year < _LAST_YEAR:
            return None  # no zone plans that far
        near = self.changes(wall - _LARGEST_OFFSET_CHANGE, wall + _LARGEST_OFFSET_CHANGE)
        return next((change for change in near if change.wall_start <= wall < change.wall_end), None)

    def plain_reading(self, wall: datetime) -> datetime:
        """Return the instant of a wall time that no change skips or repeats."""
        return wall.replace(tzinfo=self._zone).astimezone(UTC).replace(tzinfo=None)

    def _work_out(self, year: int) -> tuple[Stretch, ...]:
        changes = self._changes_in(year)
        first, last = _start_of(year), _start_of(year + 1)
        following = self._changes_in(year + 1)
        beyond = following[0] if following and following[0].at == last else None
        marks = [(first, None), *((change.at, change) for change in changes), (last, beyond)]
        stretches = tuple(
            Stretch(start, end, entered.after if entered else self._offset(start), entered, left)
            for (start, entered), (end, left) in pairwise(marks)
            if start < end
        )
        self._stretches[year] = stretches
        return stretches

    def _changes_in(self, year: int) -> tuple[Change, ...]:
        """Return the changes from the year's first instant on, found between probes."""
        known = self._changes.get(year)
        if known is None:
            start, end = _start_of(year) - _SECOND, _start_of(year + 1) - _SECOND
            probes = [start + number * _PROBE_DISTANCE for number in range((end - start) // _PROBE_DISTANCE + 1)]
            probed = [(probe, self._offset(probe)) for probe in (*probes, end)]
            known = self._changes[year] = tuple(
                Change(self._halve(before, after), before[1], after[1])
                for before, after in pairwise(probed)
                if before[1] != after[1]
            )
        return known

    def _halve(self, before: tuple[datetime, timedelta], after: tuple[datetime, timedelta]) -> datetime:
        """Return the first second at which the offset is no longer that of `before`."""
        low, high = before[0], after[0]
        while high - low > _SECOND:
            middle = low + timedelta(seconds=(high - low) // _SECOND // 2)
            if self._offset(middle) == before[1]:
                low = middle
            else:
                high = middle
        return high

    def _offset(self, utc: datetime) -> timedelta:
        offset = self._zone.fromutc(utc.replace(tzinfo=self._zone)).utcoffset()
        assert offset is not None
        return offset


@lru_cache(maxsize=1_024)
def clock_of(zone: str) -> ZoneClock:
    """Return the clock of the zone called `zone`, shared by all schedules in it.

    Raises UnknownZoneError.
    """
    return ZoneClock(load_zone(zone))


def _start_of(year: int) -> datetime:
    return datetime(year, 1, 1)  # noqa: DTZ001 - naive UTC

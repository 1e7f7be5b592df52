"""Wall-clock times without a zone: croniter iterates them, over value lists that leave it nothing to interpret.

croniter 7 reads `5-5` as the whole cycle, moves `31W` into shorter months and knows no `L-3`; so it is handed, month by
month, the explicit days that match, and never sees a zone. Counting needs no iteration: it is arithmetic over the
same lists.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from threading import Lock

from croniter import croniter

from scheduler.timetable.days import shape_of
from scheduler.timetable.resolving import Fields

FIRST_YEAR, LAST_YEAR = 2, 9_997  # the ends of the calendar stay free for the offset of a zone

_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)


class TimesOfDay:
    """The product of the hour, minute and second lists, in seconds since midnight."""

    def __init__(self, hours: Sequence[int], minutes: Sequence[int], seconds: Sequence[int]) -> None:
        self.hours, self.minutes, self.seconds = hours, minutes, seconds
        self.per_day = len(hours) * len(minutes) * len(seconds)

    def first(self) -> time:
        """Return the earliest time."""
        return time(self.hours[0], self.minutes[0], self.seconds[0])

    def last(self) -> time:
        """Return the latest time."""
        return time(self.hours[-1], self.minutes[-1], self.seconds[-1])

    def before(self, moment: time) -> int:
        """Return how many times are earlier than `moment`."""
        hour, minute = bisect_left(self.hours, moment.hour), bisect_left(self.minutes, moment.minute)
        count = hour * len(self.minutes) * len(self.seconds)
        if moment.hour not in self.hours[hour : hour + 1]:
            return count
        count += minute * len(self.seconds)
        if moment.minute not in self.minutes[minute : minute + 1]:
            return count
        # A fraction of a second puts the moment after the whole second.
        return count + bisect_left(self.seconds, moment.second + (1 if moment.microsecond else 0))

    def __contains__(self, moment: time) -> bool:
        return (
            moment.hour in self.hours
            and moment.minute in self.minutes
            and moment.second in self.seconds
            and not moment.microsecond
        )

    def __iter__(self) -> Iterator[time]:
        return (time(hour, minute, second) for hour in self.hours for minute in self.minutes for second in self.seconds)


class WallTimes:
    """The wall-clock times of one set of value lists. Safe for threads: croniter objects hold state, so a lock."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields
        self.times = TimesOfDay(fields.hours, fields.minutes, fields.seconds)
        self._empty = not (self.times.per_day and fields.months)
        self._days: dict[object, tuple[int, ...]] = {}
        self._iterators: dict[tuple[int, ...], croniter] = {}
        self._lock = Lock()

    def next_after(self, wall: datetime, last_year: int) -> datetime | None:
        """Return the first time after `wall`, up to the end of `last_year`; None when there is none."""
        if self._empty:
            return None
        wall = wall.replace(microsecond=0)
        last_year = min(last_year, LAST_YEAR)
        year, month = wall.year, wall.month
        while year <= last_year:
            days = self.days_in(year, month)
            if days and wall < datetime.combine(date(year, month, days[-1]), self.times.last()):
                start = max(wall, datetime(year, month, 1) - _SECOND)  # noqa: DTZ001 - wall time has no zone
                return self._iterate(days, start, forward=True)
            year, month = (year, month + 1) if month < 12 else (year + 1, 1)
        return None

    def previous_before(self, wall: datetime, first_year: int) -> datetime | None:
        """Return the last time before `wall`, back to the start of `first_year`; None when there is none."""
        if self._empty:
            return None
        if wall.microsecond:
            wall = wall.replace(microsecond=0) + _SECOND
        first_year = max(first_year, FIRST_YEAR)
        year, month = wall.year, wall.month
        while year >= first_year:
            days = self.days_in(year, month)
            if days and wall > datetime.combine(date(year, month, days[0]), self.times.first()):
                end = min(wall, datetime(year, month, days[-1]) + _DAY)  # noqa: DTZ001 - wall time has no zone
                return self._iterate(days, end, forward=False)
            year, month = (year, month - 1) if month > 1 else (year - 1, 12)
        return None

    def matches(self, wall: datetime) -> bool:
        """Tell whether `wall` is one of the times."""
        return wall.time() in self.times and wall.day in self.days_in(wall.year, wall.month)

    def count(self, start: datetime, end: datetime) -> int:
        """Return how many times lie in [start, end), without walking them."""
        if self._empty or end <= start:
            return 0
        return self._count_before(end) - self._count_before(start) + self._full_days(start.date(), end.date())

    def between(self, start: datetime, end: datetime) -> Iterator[datetime]:
        """Yield the times in [start, end); meant for the few hours around a clock change."""
        if self._empty:
            return
        day = start.date()
        while datetime.combine(day, time()) < end:
            if day.day in self.days_in(day.year, day.month):
                walls = (datetime.combine(day, moment) for moment in self.times)
                yield from (wall for wall in walls if start <= wall < end)
            day += _DAY

    def days_in(self, year: int, month: int) -> tuple[int, ...]:
        """Return the matching days of a month, in order; cached, because there are only 28 shapes of months."""
        fields = self._fields
        if month not in fields.months:
            return ()
        if fields.years is not None and not any(year in years for years in fields.years):
            return ()
        shape = shape_of(year, month)
        days = self._days.get(shape)
        if days is None:
            days = self._days[shape] = fields.days.days_in(shape)
        return days

    def _iterate(self, days: tuple[int, ...], wall: datetime, *, forward: bool) -> datetime:
        with self._lock:
            iterator = self._iterators.get(days)
            if iterator is None:
                iterator = self._iterators[days] = croniter(
                    self._explicit(days),
                    wall,
                    second_at_beginning=True,
                )
            step = iterator.get_next if forward else iterator.get_prev
            found: datetime = step(datetime, start_time=wall)
        return found

    def _explicit(self, days: tuple[int, ...]) -> str:
        fields = self._fields
        lists = (fields.seconds, fields.minutes, fields.hours, days)
        return " ".join((*(",".join(map(str, values)) for values in lists), "*", "*"))

    def _count_before(self, wall: datetime) -> int:
        """Return how many times of `wall`'s own day are earlier."""
        return self.times.before(wall.time()) if wall.day in self.days_in(wall.year, wall.month) else 0

    def _full_days(self, start: date, end: date) -> int:
        """Return how many times lie on the days from `start` up to, not including, `end`."""
        count = 0
        first = start
        while first < end:
            following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
            days = self.days_in(first.year, first.month)
            stop = min(following, end)
            last = stop.day if stop < following else 32
            count += bisect_left(days, last) - bisect_left(days, first.day)
            first = following
        return count * self.times.per_day

"""A slow and plain reading of the rules, to hold the timetable against: every wall time is tried, one by one.

It shares no code with the timetable: fields are sets, `zoneinfo` is asked through `fold` (PEP 495), and `auto` is the
literal rule, "drop a run that repeats the wall time of the run just before it".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from zoneinfo import ZoneInfo

from scheduler.domain.states import DayMatch, OnFold, OnGap

ZONES = (
    "Africa/Cairo",
    "Africa/Casablanca",
    "America/Asuncion",
    "America/Havana",
    "America/Los_Angeles",
    "America/New_York",
    "America/Nuuk",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/Scoresbysund",
    "America/St_Johns",
    "Antarctica/Troll",
    "Asia/Amman",
    "Asia/Beirut",
    "Asia/Gaza",
    "Asia/Jerusalem",
    "Asia/Kathmandu",
    "Asia/Tehran",
    "Atlantic/Azores",
    "Australia/Lord_Howe",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/Dublin",
    "Europe/London",
    "Pacific/Apia",
    "Pacific/Auckland",
    "Pacific/Chatham",
    "Pacific/Norfolk",
    "UTC",
)
FIRST_YEAR, LAST_YEAR = 2015, 2029
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Rule:
    """An expression as sets; None is a star."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int] | None
    months: frozenset[int] | None
    weekdays: frozenset[int] | None  # Sunday is 0

    @property
    def expression(self) -> str:
        """Return the cron expression."""
        return " ".join(
            "*" if values is None else ",".join(map(str, sorted(values)))
            for values in (self.minutes, self.hours, self.days, self.months, self.weekdays)
        )

    def matches(self, day: date, day_match: DayMatch) -> bool:
        """Tell whether a day matches."""
        if self.months is not None and day.month not in self.months:
            return False
        by_day = self.days is None or day.day in self.days
        by_weekday = self.weekdays is None or day.isoweekday() % 7 in self.weekdays
        if day_match is DayMatch.ANY and self.days is not None and self.weekdays is not None:
            return by_day or by_weekday
        return by_day and by_weekday

    def walls(self, first: date, last: date, day_match: DayMatch) -> Iterator[datetime]:
        """Yield the wall times of the days from `first` to `last`."""
        day = first
        while day <= last:
            if self.matches(day, day_match):
                for hour in sorted(self.hours):
                    yield from (datetime.combine(day, time(hour, minute)) for minute in sorted(self.minutes))
            day += _DAY


def zone(name: str) -> ZoneInfo:
    """Return a zone of the pinned database, not the system's."""
    with files("tzdata.zoneinfo").joinpath(*name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def runs(walls: Iterator[datetime], where: ZoneInfo, on_gap: OnGap, on_fold: OnFold) -> list[datetime]:
    """Return the instants of `walls`, in order."""
    both = OnFold.BOTH if on_fold is OnFold.AUTO else on_fold
    found = sorted((instant, wall) for wall in walls for instant in _readings(wall, where, on_gap, both))
    kept: list[datetime] = []
    before: datetime | None = None
    for instant, wall in found:
        repeats = on_fold is OnFold.AUTO and wall == before
        if not repeats and instant not in kept[-1:]:
            kept.append(instant)
        before = wall
    return kept


def _readings(wall: datetime, where: ZoneInfo, on_gap: OnGap, on_fold: OnFold) -> list[datetime]:
    first, second = (wall.replace(tzinfo=where, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first == second:
        return [first]
    if first.astimezone(where).replace(tzinfo=None) != wall:
        return {OnGap.SHIFT: [first], OnGap.NEXT_VALID: [_change(second, first, where)], OnGap.SKIP: []}[on_gap]
    return {OnFold.EARLIER: [first], OnFold.LATER: [second], OnFold.BOTH: [first, second]}[on_fold]


def _change(before: datetime, after: datetime, where: ZoneInfo) -> datetime:
    """Return the first instant at which the offset is that of `after`."""
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(where).utcoffset() == after.astimezone(where).utcoffset():
            after = middle
        else:
            before = middle
    return after


def dates_of_changes(where: ZoneInfo) -> list[date]:
    """Return the days on which the clock changes."""
    days = [date(FIRST_YEAR, 1, 1) + number * _DAY for number in range((LAST_YEAR - FIRST_YEAR + 1) * 365)]
    offsets = [datetime.combine(day, time(12), where).utcoffset() for day in days]
    return [days[number] for number in range(1, len(days)) if offsets[number] != offsets[number - 1]]

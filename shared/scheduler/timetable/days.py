"""Which days of a month a schedule matches: L, W and # depend only on the month's first weekday and its length."""

from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass

from scheduler.domain.states import DayMatch
from scheduler.timetable.elements import Element, Kind

_SATURDAY, _SUNDAY = 6, 0  # cron's numbers


@dataclass(frozen=True, slots=True)
class MonthShape:
    """What of a month decides its days; there are only 28 shapes."""

    first_weekday: int  # Sunday is 0
    length: int

    def weekday(self, day: int) -> int:
        """Return cron's number of the weekday of `day`."""
        return (self.first_weekday + day - 1) % 7

    def days_on(self, weekday: int) -> range:
        """Return the days that fall on `weekday`."""
        return range((weekday - self.first_weekday) % 7 + 1, self.length + 1, 7)


def shape_of(year: int, month: int) -> MonthShape:
    """Return the shape of a month."""
    monday_based, length = monthrange(year, month)
    return MonthShape((monday_based + 1) % 7, length)


@dataclass(frozen=True, kw_only=True, slots=True)
class DayRule:
    """The two day fields and how they combine."""

    days: tuple[int, ...]  # plain days of the month
    special_days: tuple[Element, ...] = ()
    any_day: bool = False  # the field is * or ?
    weekdays: tuple[int, ...]  # 0-6
    special_weekdays: tuple[Element, ...] = ()
    any_weekday: bool = False
    match: DayMatch = DayMatch.ALL

    def days_in(self, shape: MonthShape) -> tuple[int, ...]:
        """Return the matching days of a month, in order."""
        by_day, by_weekday = self._by_day(shape), self._by_weekday(shape)
        if self.match is DayMatch.ALL or self.any_day or self.any_weekday:
            # An unrestricted field holds every day, so that "either" leaves the decision to the restricted one.
            return tuple(sorted(by_day & by_weekday))
        return tuple(sorted(by_day | by_weekday))

    def _by_day(self, shape: MonthShape) -> set[int]:
        if self.any_day:
            return set(range(1, shape.length + 1))
        days = {day for day in self.days if day <= shape.length}
        return days | _present(_special_day(element, shape) for element in self.special_days)

    def _by_weekday(self, shape: MonthShape) -> set[int]:
        if self.any_weekday:
            return set(range(1, shape.length + 1))
        days = {day for weekday in self.weekdays for day in shape.days_on(weekday)}
        return days | _present(_special_weekday(element, shape) for element in self.special_weekdays)


def _present(days: Iterable[int | None]) -> set[int]:
    return {day for day in days if day is not None}


def _special_day(element: Element, shape: MonthShape) -> int | None:
    match element.kind:
        case Kind.LAST_DAY:
            return shape.length - element.low if element.low < shape.length else None
        case Kind.LAST_WEEKDAY:
            return _nearest_weekday(shape.length, shape)
        case _:  # NEAREST_WEEKDAY
            return _nearest_weekday(element.low, shape) if element.low <= shape.length else None


def _nearest_weekday(day: int, shape: MonthShape) -> int:
    """Return the Monday to Friday nearest to `day`, without leaving the month."""
    weekday = shape.weekday(day)
    if weekday == _SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == _SUNDAY:
        return day + 1 if day < shape.length else day - 2
    return day


def _special_weekday(element: Element, shape: MonthShape) -> int | None:
    days = shape.days_on(element.low % 7)
    if element.kind is Kind.LAST_OF_WEEKDAY:
        return days[-1]
    return days[element.step - 1] if element.step <= len(days) else None

"""Warnings about the day fields and about lists: what is valid and yet rarely meant."""

from calendar import monthrange
from collections.abc import Sequence

from scheduler.domain.errors import Finding
from scheduler.domain.states import DayMatch
from scheduler.timetable.dialect import Expression, ReadField
from scheduler.timetable.elements import Element, Kind
from scheduler.timetable.fields import DAY_OF_MONTH, DAY_OF_WEEK, MONTH
from scheduler.timetable.phrases import and_list, month_name
from scheduler.timetable.resolving import field_values

_COMMON_YEAR = 2026
_SHORTEST_MONTH = 28
_FEBRUARY = 2


def day_warnings(expression: Expression, hash_value: int, day_match: DayMatch) -> list[Finding]:
    """Return the warnings `empty_list_element`, `dom_and_dow` and `dom_skips_months`."""
    warnings = [_empty_element(field) for field in expression.fields if field.has_empty_element]
    day, weekday = expression.field(DAY_OF_MONTH), expression.field(DAY_OF_WEEK)
    month = expression.field(MONTH)
    if day is None or weekday is None or month is None:
        return warnings
    if day_match is DayMatch.ALL and not day.unrestricted and not weekday.unrestricted:
        message = "day-of-month and day-of-week are both restricted: it runs only on days that match both"
        warnings.append(Finding(code="dom_and_dow", message=message))
    months = field_values(month, hash_value)
    return warnings + [_skips(element, short) for element, short in _lacking(day.elements, months)]


def _empty_element(field: ReadField) -> Finding:
    message = f"{field.kind.name} field {field.text} has an empty list element, which is ignored"
    return Finding(code="empty_list_element", message=message, field=field.kind.name, value=field.text)


def _lacking(elements: Sequence[Element], months: Sequence[int]) -> list[tuple[Element, list[int]]]:
    """Return the elements whose day exists in some of the months only, with the months that lack it."""
    found = []
    for element in elements:
        needed = _needed_length(element)
        short = [month for month in months if monthrange(_COMMON_YEAR, month)[1] < needed]
        if short and (len(short) < len(months) or needed == _SHORTEST_MONTH + 1):
            found.append((element, short))
    return found


def _needed_length(element: Element) -> int:
    """Return how many days a month needs for this element to match at all."""
    match element.kind:
        case Kind.VALUE | Kind.RANGE | Kind.STEP | Kind.NEAREST_WEEKDAY:
            return min(element.low, element.high) if element.kind is Kind.RANGE else element.low
        case Kind.LAST_DAY:
            return element.low + 1
    return 0


def _skips(element: Element, short: Sequence[int]) -> Finding:
    names = [month_name(month) for month in short]
    if _needed_length(element) == _SHORTEST_MONTH + 1:
        names = ["February outside leap years" if month == _FEBRUARY else month_name(month) for month in short]
    what = f"L-{element.low}" if element.kind is Kind.LAST_DAY else f"day {element.low}"
    message = f"{what} does not exist in {and_list(names)}; there is no run for it then"
    return Finding(code="dom_skips_months", message=message, field=DAY_OF_MONTH.name)

"""The words for one field of an expression."""

from collections.abc import Callable, Sequence

from scheduler.timetable.dialect import ReadField
from scheduler.timetable.elements import Element, Kind
from scheduler.timetable.fields import DAY_OF_WEEK, MONTH, FieldKind

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_NTH = ("first", "second", "third", "fourth", "fifth")
_PLAIN = frozenset({Kind.VALUE, Kind.RANGE})


def and_list(words: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def month_name(number: int) -> str:
    """Return the month's English name."""
    return _MONTHS[number - 1]


def unit_phrase(field: ReadField) -> str:
    """Return the words for seconds, minutes or hours: `minutes 0, 5 to 10 and 40`, `every 15 minutes`."""
    return _phrase(field, field.kind.name, str)


def day_phrase(field: ReadField) -> str:
    """Return the words for the day of the month."""
    specials = [_special_day(element) for element in field.elements if element.kind not in _PLAIN]
    plain = [element for element in field.elements if element.kind in _PLAIN]
    parts = [f"{_plain_phrase(plain, 'day', str)} of the month"] if plain else []
    return and_list([*parts, *specials]) or "no day"


def weekday_phrase(field: ReadField) -> str:
    """Return the words for the day of the week: `Monday to Friday`, `the third Friday of the month`."""
    return and_list([_weekday(element) for element in field.elements]) or "no weekday"


def month_phrase(field: ReadField) -> str:
    """Return the words for the months, by name."""
    return and_list([_named(element, MONTH, month_name) for element in field.elements]) or "no month"


def year_phrase(field: ReadField) -> str:
    """Return the words for the years."""
    return and_list([_year(element) for element in field.elements]) or "no year"


def _phrase(field: ReadField, unit: str, name: Callable[[int], str]) -> str:
    plain = [element for element in field.elements if element.kind in _PLAIN]
    others = [_repeated(element, unit, field.kind.size) for element in field.elements if element.kind not in _PLAIN]
    parts = [_plain_phrase(plain, unit, name)] if plain else []
    return and_list([*parts, *others]) or f"no {unit}"


def _plain_phrase(elements: Sequence[Element], unit: str, name: Callable[[int], str]) -> str:
    words = [_span(element, name) for element in elements]
    plural = "s" if len(elements) > 1 or elements[0].kind is Kind.RANGE else ""
    return f"{unit}{plural} {and_list(words)}"


def _span(element: Element, name: Callable[[int], str]) -> str:
    if element.kind is Kind.VALUE:
        return name(element.low)
    return f"{name(element.low)} to {name(element.high)}"


def _repeated(element: Element, unit: str, size: int = 1) -> str:
    every = f"every {unit}" if element.step == 1 else f"every {element.step} {unit}s"
    match element.kind:
        case Kind.ANY:
            return f"every {unit}"
        case Kind.HASH:
            return f"a hashed {unit}" + ("" if element.whole else f" from {element.low} to {element.high}")
        case Kind.HASH_STEP:
            within = "" if element.whole else f" between {element.low} and {element.high}"
            return f"{every} from a hashed start{within}"
    # "every 7 minutes" would be untrue: from minute 56 to minute 0 it is four
    evenly = element.whole and size % element.step == 0
    return every if evenly else f"{every} from {element.low} to {element.high}"


def _special_day(element: Element) -> str:
    match element.kind:
        case Kind.LAST_DAY:
            if not element.low:
                return "the last day of the month"
            return f"the {_ordinal(element.low)} day before the last of the month"
        case Kind.LAST_WEEKDAY:
            return "the last weekday of the month"
        case Kind.NEAREST_WEEKDAY:
            return f"the weekday nearest day {element.low} of the month"
    return f"{_repeated(element, 'day')} of the month"


def _weekday(element: Element) -> str:
    match element.kind:
        case Kind.NTH_WEEKDAY:
            return f"the {_NTH[element.step - 1]} {_WEEKDAYS[element.low]} of the month"
        case Kind.LAST_OF_WEEKDAY:
            return f"the last {_WEEKDAYS[element.low]} of the month"
        case Kind.ANY:
            return "every weekday"
    return _named(element, DAY_OF_WEEK, lambda number: _WEEKDAYS[number])


def _named(element: Element, kind: FieldKind, name: Callable[[int], str]) -> str:
    """Return the words where values have names, so that a step is clearest as the list of what it hits."""
    unit = "weekday" if kind is DAY_OF_WEEK else kind.name
    match element.kind:
        case Kind.VALUE | Kind.RANGE:
            return _span(element, name)
        case Kind.HASH:
            within = "" if element.whole else f" from {name(element.low)} to {name(element.high)}"
            return f"a hashed {unit}{within}"
        case Kind.STEP:
            return and_list(list(dict.fromkeys(name(value) for value in element.values(kind, 0))))
    return _repeated(element, unit)


def _year(element: Element) -> str:
    if element.kind in _PLAIN:
        return _span(element, str)
    if element.kind is Kind.ANY:
        return "every year"
    every = "every year" if element.step == 1 else f"every {element.step} years"
    open_end = element.high == 9_999
    return f"{every} from {element.low}" + ("" if open_end else f" to {element.high}")


def _ordinal(number: int) -> str:
    suffix = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"

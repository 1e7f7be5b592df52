"""Reads one element of a field, strictly; what is wrong is told with its place."""

import re

from scheduler.timetable.elements import Element, Kind, range_size
from scheduler.timetable.fields import DAY_OF_MONTH, DAY_OF_WEEK, YEAR, FieldKind

_NUMBER = re.compile(r"[0-9]+")
_HASHED_RANGE = re.compile(r"H\(([^()]*)\)")
_MAX_DIGITS = 18  # what a larger number would mean is clear: out of range
_MAX_DAYS_BEFORE_LAST = 30
_MAX_NTH = 5


class ElementError(Exception):
    """An element breaks a rule; `at` is the offset in characters of `value` within it."""

    def __init__(self, value: str, reason: str, valid_range: str | None = None, at: int = 0) -> None:
        super().__init__(f"{value} {reason}")
        self.value = value
        self.reason = reason
        self.valid_range = valid_range
        self.at = at


def read_element(text: str, field: FieldKind) -> Element:
    """Return what `text` says.

    Raises ElementError.
    """
    special = _read_special(text, field)
    if special is not None:
        return special
    if text.startswith("H"):
        return _read_hashed(text, field)
    base, slash, step = text.partition("/")
    if base in ("*", "?"):
        return _read_any(text, base, slash, step, field)
    if not base:
        raise ElementError(text, "needs a value before the step", field.valid_range)
    low, high, is_range = _read_bounds(base, 0, field)
    if not slash:
        return Element(kind=Kind.RANGE if is_range else Kind.VALUE, low=low, high=high)
    if not is_range:
        high = field.high
    return Element(kind=Kind.STEP, low=low, high=high, step=_read_step(text, step, range_size(low, high, field)))


def _read_any(text: str, base: str, slash: str, step: str, field: FieldKind) -> Element:
    if not slash:
        return Element(kind=Kind.ANY, low=field.low, high=field.high, whole=True)
    if base == "?" or field is YEAR:
        raise ElementError(text, "needs a first value before the step", field.valid_range)
    number = _read_step(text, step, field.size)
    return Element(kind=Kind.STEP, low=field.low, high=field.high, step=number, whole=True)


def _read_bounds(base: str, at: int, field: FieldKind) -> tuple[int, int, bool]:
    first, dash, second = base.partition("-")
    low = _read_value(first or base, at, field)
    if not dash:
        return low, low, False
    if not second:
        raise ElementError(base, "has no end after the hyphen", field.valid_range, at)
    high = _read_value(second, at + len(first) + 1, field)
    if low > high and not field.wraps:
        raise ElementError(base, "starts after it ends", field.valid_range, at)
    return low, high, True


def _read_value(text: str, at: int, field: FieldKind) -> int:
    number = field.words.get(text.lower())
    if number is None:
        number = _read_number(text, at, field)
    if not field.low <= number <= field.high:
        raise ElementError(text, "is out of range", field.valid_range, at)
    return number


def _read_number(text: str, at: int, field: FieldKind) -> int:
    if not _NUMBER.fullmatch(text):
        kind = "a number or name" if field.words else "a number"
        raise ElementError(text, f"is not {kind}", field.valid_range, at)
    if len(text.lstrip("0")) > _MAX_DIGITS:
        raise ElementError(text, "is out of range", field.valid_range, at)
    return int(text)


def _read_step(text: str, step: str, size: int | None) -> int:
    """Return the step; `size` None: any number from 1 on will do.

    The range of one value may have the step 1, as with the reference engine.
    """
    if not _NUMBER.fullmatch(step) or len(step) > _MAX_DIGITS:
        raise ElementError(text, "has a step that is not a number")
    number = int(step)
    if number < 1:
        raise ElementError(text, "has a step below 1")
    if size is not None and number > 1 and number >= size:
        raise ElementError(text, f"has a step that is not smaller than its range of {size}", f"1-{max(size - 1, 1)}")
    return number


def _read_hashed(text: str, field: FieldKind) -> Element:
    if field is YEAR:
        raise ElementError(text, "cannot be hashed")
    base, slash, step = text.partition("/")
    low, high = field.low, field.high
    if base != "H":
        low, high = _read_hashed_range(text, base, field)
    if not slash:
        return Element(kind=Kind.HASH, low=low, high=high, whole=base == "H")
    number = _read_step(text, step, None)
    kind = Kind.HASH_STEP if number > 1 else Kind.HASH
    return Element(kind=kind, low=low, high=high, step=number, whole=base == "H")


def _read_hashed_range(text: str, base: str, field: FieldKind) -> tuple[int, int]:
    match = _HASHED_RANGE.fullmatch(base)
    bounds = match[1].split("-") if match else []
    if len(bounds) != 2:
        raise ElementError(text, "is not H, H/n, H(a-b) or H(a-b)/n")
    low = _within(_read_number(bounds[0], 2, field), bounds[0], 2, field)
    at = 2 + len(bounds[0]) + 1
    return low, _within(_read_number(bounds[1], at, field), bounds[1], at, field)


def _within(number: int, text: str, at: int, field: FieldKind) -> int:
    if not field.low <= number <= field.high:
        raise ElementError(text, "is out of range", field.valid_range, at)
    return number


def _read_special(text: str, field: FieldKind) -> Element | None:
    if field is DAY_OF_MONTH:
        return _read_special_day(text)
    if field is DAY_OF_WEEK and "#" in text:
        return _read_nth_weekday(text)
    return None


def _read_special_day(text: str) -> Element | None:
    upper = text.upper()
    if upper == "L":
        return Element(kind=Kind.LAST_DAY)
    if upper == "LW":
        return Element(kind=Kind.LAST_WEEKDAY)
    if upper.startswith("L-"):
        return Element(kind=Kind.LAST_DAY, low=_bounded(text, upper[2:], _MAX_DAYS_BEFORE_LAST, "needs 1-30 after L-"))
    if upper.endswith("W"):
        high = DAY_OF_MONTH.high
        return Element(kind=Kind.NEAREST_WEEKDAY, low=_bounded(text, upper[:-1], high, "needs a day 1-31 before W"))
    return None


def _bounded(text: str, digits: str, high: int, reason: str) -> int:
    if not _NUMBER.fullmatch(digits) or len(digits) > _MAX_DIGITS or not 1 <= int(digits) <= high:
        raise ElementError(text, reason, f"1-{high}")
    return int(digits)


def _read_nth_weekday(text: str) -> Element:
    day, _, nth = text.partition("#")
    if not day:
        raise ElementError(text, "needs a weekday before #", DAY_OF_WEEK.valid_range)
    low = _read_value(day, 0, DAY_OF_WEEK)
    if nth.upper() == "L":
        return Element(kind=Kind.LAST_OF_WEEKDAY, low=low)
    return Element(kind=Kind.NTH_WEEKDAY, low=low, step=_bounded(text, nth, _MAX_NTH, "needs 1-5 or L after #"))

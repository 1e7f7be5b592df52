"""Durations as users write them: Go's (`1h30m`) after @every, ISO 8601's (`PT90M`) for fixed rates.

Both come back in whole seconds, fractions cut off, because nothing is planned in smaller units.
"""

import re
from datetime import timedelta
from fractions import Fraction

_GO_SECONDS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),  # U+00B5
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 10**3),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3_600),
}
_GO_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_GO_DURATION = re.compile(rf"\+?(?:{_GO_PART.pattern})+", re.ASCII)
_ISO_DURATION = re.compile(
    r"P(?=.)(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=.)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)(?:[.,]\d+)?S)?)?",
    re.ASCII,
)
_ISO_CALENDAR = re.compile(r"P[^T]*\d+[YM].*", re.ASCII)
_MAX_SECONDS = 10_000 * 366 * 86_400  # longer than the calendar; keeps timedelta from overflowing


class DurationError(Exception):
    """The text is no duration of at least one second; the message says what is wrong with it."""


def go_duration(text: str) -> timedelta:
    """Return the duration that Go's time.ParseDuration reads in `text`.

    Raises DurationError.
    """
    if not _GO_DURATION.fullmatch(text):
        raise DurationError("is not a duration of at least 1s such as 90m or 1h30m")
    return _whole(sum((Fraction(number) * _GO_SECONDS[unit] for number, unit in _GO_PART.findall(text)), Fraction(0)))


def iso_duration(text: str) -> timedelta:
    """Return the ISO 8601 duration in `text`: weeks, days, hours, minutes, seconds.

    Raises DurationError.
    """
    match = _ISO_DURATION.fullmatch(text)
    if match is None:
        if _ISO_CALENDAR.fullmatch(text):
            raise DurationError("has years or months, whose length is not fixed")
        raise DurationError("is not an ISO 8601 duration of at least one second such as PT5M or P1D")
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return _whole(Fraction((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds))


def _whole(seconds: Fraction) -> timedelta:
    whole = int(seconds)
    if whole < 1:
        raise DurationError("is shorter than one second")
    return timedelta(seconds=min(whole, _MAX_SECONDS))

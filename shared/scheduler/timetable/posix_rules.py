"""The rule at the end of a compiled zone file (POSIX TZ, such as `CET-1CEST,M3.5.0,M10.5.0/3`), in words.

The wording is the reference scheduler's, whose users read it in `GET /scheduler-time-zones`.
"""

import re
from dataclasses import dataclass
from datetime import timedelta

_TZ = re.compile(
    r"(?P<std>[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)(?P<std_offset>[+-]?[0-9:]+)"
    r"(?:(?P<dst>[A-Za-z]{3,}|<[A-Za-z0-9+-]+>)(?P<dst_offset>[+-]?[0-9:]+)?"
    r"(?:,(?P<start>[^,]+),(?P<end>[^,]+))?)?"
)
_MONTH_RULE = re.compile(r"M([0-9]{1,2})\.([1-5])\.([0-6])(?:/([+-]?[0-9:]+))?")
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_DEFAULT_TIME = timedelta(hours=2)
_WEEKS = ("first", "second", "third", "fourth", "last")
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
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


@dataclass(frozen=True, slots=True)
class PosixRule:
    """Standard time, daylight saving time if there is any, and when each begins."""

    std: str
    dst: str | None = None
    rules: str | None = None


def rule_of(zone_file: bytes) -> str:
    """Return the rule in the footer of a TZif file (RFC 9636, section 3.3)."""
    return zone_file.rsplit(b"\n", 2)[-2].decode("ascii")


def read_rule(text: str) -> PosixRule:
    """Return what the rule says.

    Raises ValueError for a text that is no such rule.
    """
    match = _TZ.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a POSIX time zone rule")
    std_offset = -_duration(match["std_offset"])  # POSIX counts westwards
    std = f"{match['std']} (UTC {_signed(std_offset)})"
    if match["dst"] is None:
        return PosixRule(std)
    dst_offset = -_duration(match["dst_offset"]) if match["dst_offset"] else std_offset + _HOUR
    dst = f"{match['dst']} (UTC {_signed(dst_offset)})"
    if match["start"] is None:
        return PosixRule(std, dst)
    return PosixRule(std, dst, f"Starts {_when(match['start'])}, Ends {_when(match['end'])}")


def _when(rule: str) -> str:
    match = _MONTH_RULE.fullmatch(rule)
    if match is None:
        return f"on day {rule} of the year"
    month, week, weekday = (int(part) for part in match.groups()[:3])
    time = _duration(match[4]) if match[4] else _DEFAULT_TIME
    day = f"{_WEEKS[week - 1]} {_WEEKDAYS[weekday]} of {_MONTHS[month - 1]}"
    return f"on the {day} at {_time_of_day(time)}"


def _time_of_day(time: timedelta) -> str:
    """Return the time, which may lie on a later or earlier day: zones use 24:00, 26:00, 50:00 and -1:00."""
    days, rest = time // _DAY, time % _DAY
    clock = f"{rest // _HOUR:02}:{rest % _HOUR // timedelta(minutes=1):02}:{rest.seconds % 60:02}"
    match days:
        case 0:
            return clock
        case 1:
            return "midnight of the next day" if not rest else f"{clock} of the following day"
        case -1:
            return f"{clock} of the day before"
    return f"{clock} {days} days later" if days > 0 else f"{clock} {-days} days earlier"


def _duration(text: str) -> timedelta:
    sign = -1 if text.startswith("-") else 1
    hours, minutes, seconds = (*(int(part) for part in text.lstrip("+-").split(":")), 0, 0)[:3]
    return sign * timedelta(hours=hours, minutes=minutes, seconds=seconds)


def _signed(offset: timedelta) -> str:
    size = abs(offset)
    return f"{'-' if offset < timedelta(0) else '+'}{size // _HOUR:02}:{size % _HOUR // timedelta(minutes=1):02}"

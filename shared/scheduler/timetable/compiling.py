"""From a definition to its timetable. Compiling is cached, so that asking again costs a look-up.

Definitions that mean the same share one timetable, whatever their schedules are: without an H the job's or call's
GUID is no part of the key, and with one the key is the values that it resolved to.
"""

from datetime import datetime, timedelta
from functools import lru_cache

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.schedules import Definition
from scheduler.domain.states import DayMatch, ExpressionType, OnFold, OnGap
from scheduler.timetable.clock import clock_of
from scheduler.timetable.contract import Timetable
from scheduler.timetable.cron import CronTimetable
from scheduler.timetable.dialect import Expression, read_expression
from scheduler.timetable.durations import DurationError, iso_duration
from scheduler.timetable.hashing import fnv1a
from scheduler.timetable.intervals import AnchoredRate, RelativeRate, whole_second
from scheduler.timetable.never import Never
from scheduler.timetable.onetime import OneTime, instant_on_clock, not_an_instant, read_instant
from scheduler.timetable.resolving import Fields, resolve
from scheduler.timetable.walls import WallTimes
from scheduler.timetable.window import Windowed
from scheduler.timetable.zones import UnknownZoneError, load_zone

DEFAULT_ZONE = "UTC"

_LOCAL = "Local"
_CACHED = 8_192


def compile_timetable(definition: Definition, *, hash_key: str, default_zone: str = DEFAULT_ZONE) -> Timetable:
    """Return the timetable of `definition`.

    `hash_key`: the GUID of the job or call, for H. `default_zone`: where a definition names no zone.
    Raises InvalidInputError with a finding for each mistake.
    """
    timetable = _compile(definition, hash_key, default_zone)
    if definition.start_time is None and definition.end_time is None:
        return timetable
    return Windowed(timetable, definition.start_time, definition.end_time)


def interval_of(definition: Definition) -> timedelta | None:
    """Return the distance between due instants of a fixed rate or @every, None for other expressions.

    Raises InvalidInputError.
    """
    match definition.expression_type:
        case ExpressionType.FIXED_RATE:
            return _fixed_rate(definition.expression)
        case ExpressionType.CRON:
            return read_expression(definition.expression.strip()).every
    return None


def zone_of(definition: Definition, default_zone: str = DEFAULT_ZONE) -> str:
    """Return the zone that wall times are read in: the expression's own, the definition's, or the default.

    Raises InvalidInputError.
    """
    expression = None
    if definition.expression_type is ExpressionType.CRON:
        expression = read_expression(definition.expression.strip())
    return _zone(expression, definition.time_zone, default_zone)


def _compile(definition: Definition, hash_key: str, default_zone: str) -> Timetable:
    match definition.expression_type:
        case ExpressionType.FIXED_RATE:
            return _rate(definition.anchor_at, _fixed_rate(definition.expression))
        case ExpressionType.ONE_TIME:
            zone = _zone(None, definition.time_zone, default_zone)
            return _one_time(definition.expression, zone, definition.on_gap, definition.on_fold)
    expression = read_expression(definition.expression.strip())
    if expression.every is not None:
        _zone(expression, definition.time_zone, default_zone)
        return _rate(definition.anchor_at and whole_second(definition.anchor_at), expression.every)
    hash_value = fnv1a(hash_key) if expression.hashed else 0
    return _cron(
        expression.text,
        hash_value,
        definition.day_match,
        definition.time_zone,
        default_zone,
        definition.on_gap,
        definition.on_fold,
    )


def _rate(anchor: datetime | None, interval: timedelta) -> Timetable:
    return AnchoredRate(anchor, interval) if anchor else RelativeRate(interval)


@lru_cache(maxsize=_CACHED)
def _cron(
    text: str,
    hash_value: int,
    day_match: DayMatch,
    time_zone: str | None,
    default_zone: str,
    on_gap: OnGap,
    on_fold: OnFold,
) -> Timetable:
    expression = read_expression(text)
    zone = _zone(expression, time_zone, default_zone)
    if not expression.fields:
        return Never()
    return _on_clock(resolve(expression, hash_value, day_match), zone, on_gap, on_fold)


@lru_cache(maxsize=_CACHED)
def _on_clock(fields: Fields, zone: str, on_gap: OnGap, on_fold: OnFold) -> Timetable:
    return CronTimetable(_walls(fields), clock_of(zone), zone, on_gap, on_fold)


@lru_cache(maxsize=_CACHED)
def _walls(fields: Fields) -> WallTimes:
    return WallTimes(fields)


@lru_cache(maxsize=_CACHED)
def _one_time(text: str, zone: str, on_gap: OnGap, on_fold: OnFold) -> Timetable:
    text = text.strip()
    instant = read_instant(text)
    if instant.tzinfo is not None:
        return OneTime(instant, zone)
    try:
        return OneTime(instant_on_clock(instant, clock_of(zone), on_gap, on_fold), zone)
    except OverflowError:  # read in this zone, it lies behind the calendar's end
        raise not_an_instant(text) from None


@lru_cache(maxsize=_CACHED)
def _fixed_rate(text: str) -> timedelta:
    text = text.strip()
    try:
        return iso_duration(text)
    except DurationError as error:
        finding = Finding(code="parse_error", message=f"{text} {error}", value=text, offset=0)
        raise InvalidInputError(finding) from None


def _zone(expression: Expression | None, time_zone: str | None, default_zone: str) -> str:
    prefix = expression.zone if expression else None
    if prefix is None:
        return _known_zone(time_zone, None) if time_zone else default_zone
    # What the reference scheduler calls Local in an expression is the server's zone; as a time_zone it is refused.
    zone = default_zone if prefix == _LOCAL else _known_zone(prefix, expression.zone_offset if expression else None)
    if time_zone and _known_zone(time_zone, None) != zone:
        message = f"the expression's time zone {zone} and the field time_zone {time_zone} differ"
        raise InvalidInputError(Finding(code="time_zone_conflict", message=message, field="time zone", value=time_zone))
    return zone


def _known_zone(name: str, offset: int | None) -> str:
    try:
        load_zone(name)
    except UnknownZoneError:
        message = f"time zone field value {name} is not a known time zone" if name else "the time zone is empty"
        finding = Finding(code="parse_error", message=message, field="time zone", value=name, offset=offset)
        raise InvalidInputError(finding) from None
    return name

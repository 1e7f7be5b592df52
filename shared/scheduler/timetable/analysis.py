"""One analysis for `POST /schedules/validate`, for creating a schedule and for the command line."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.schedules import Definition
from scheduler.domain.states import ExpressionType
from scheduler.timetable.clock import clock_of
from scheduler.timetable.clock_warnings import Affected, clock_warnings, warning_about
from scheduler.timetable.compiling import DEFAULT_ZONE, compile_timetable, interval_of, zone_of
from scheduler.timetable.contract import HORIZON_YEARS, Timetable
from scheduler.timetable.cron import CronTimetable
from scheduler.timetable.day_warnings import day_warnings
from scheduler.timetable.describing import describe
from scheduler.timetable.dialect import read_expression
from scheduler.timetable.hashing import PLACEHOLDER_KEY, fnv1a
from scheduler.timetable.onetime import read_instant
from scheduler.timetable.resolving import HashedField, hashed_fields
from scheduler.timetable.spacing import smallest_gap
from scheduler.timetable.window import Windowed

DEFAULT_NEXT_RUNS = 5
MAX_RUNS = 100
"""Runs that may be asked for in either direction."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysis:
    """What a definition means, and what is wrong or remarkable about it."""

    expression: str
    description: str = ""
    location: str | None = None
    hashed_fields: tuple[HashedField, ...] = ()
    next_runs: tuple[datetime, ...] = ()
    prev_runs: tuple[datetime, ...] = ()
    errors: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()

    @property
    def valid(self) -> bool:
        """Tell whether a schedule may be made of it."""
        return not self.errors

    @property
    def illustrative(self) -> bool:
        """Tell whether an H was resolved, so that another job's or call's runs would differ."""
        return bool(self.hashed_fields)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """How to look at a definition."""

    now: datetime
    hash_key: str = PLACEHOLDER_KEY  # the GUID of the job or call, when there is one
    default_zone: str = DEFAULT_ZONE
    next_count: int = DEFAULT_NEXT_RUNS
    prev_count: int = 0
    min_interval: timedelta | None = field(default=None)  # SCHEDULER_MIN_INTERVAL


def analyse(definition: Definition, question: Question) -> Analysis:
    """Return the analysis of `definition`; mistakes are in it and are not raised."""
    text = definition.expression.strip()
    try:
        timetable = compile_timetable(definition, hash_key=question.hash_key, default_zone=question.default_zone)
    except InvalidInputError as error:
        return Analysis(expression=text, errors=error.findings, warnings=error.warnings)
    next_runs = tuple(timetable.runs(question.now, question.next_count))
    errors = _errors(timetable, definition, question)
    return Analysis(
        expression=text,
        description=describe(definition),
        location=_location(definition, question),
        hashed_fields=_hashed(definition, question),
        next_runs=next_runs,
        prev_runs=tuple(timetable.previous(question.now, question.prev_count)),
        errors=errors,
        warnings=_warnings(timetable, definition, question, next_runs[-1] if next_runs else None, valid=not errors),
    )


def _location(definition: Definition, question: Question) -> str | None:
    """Return the zone, None for intervals, which have none."""
    return None if interval_of(definition) is not None else zone_of(definition, question.default_zone)


def _hashed(definition: Definition, question: Question) -> tuple[HashedField, ...]:
    if definition.expression_type is not ExpressionType.CRON:
        return ()
    return hashed_fields(read_expression(definition.expression.strip()), fnv1a(question.hash_key))


def _errors(timetable: Timetable, definition: Definition, question: Question) -> tuple[Finding, ...]:
    if _never_fires(timetable, definition, question.now):
        return (Finding(code="never_fires", message=f"it has no run in the next {HORIZON_YEARS} years"),)
    if question.min_interval is None or definition.expression_type is ExpressionType.ONE_TIME:
        return ()
    inner = _unwindowed(timetable)
    gap = interval_of(definition)
    if isinstance(inner, CronTimetable):
        gap = smallest_gap(inner.walls, question.now.year)
    if gap is None or gap >= question.min_interval:
        return ()
    least = question.min_interval.total_seconds()
    message = f"it runs as often as every {gap.total_seconds():.0f} s; the least that is allowed is {least:.0f} s"
    return (Finding(code="under_min_interval", message=message),)


def _never_fires(timetable: Timetable, definition: Definition, now: datetime) -> bool:
    """Tell whether no run is to come; a one-time instant that is already past is due at once."""
    if timetable.next_after(now) is not None:
        return False
    if definition.expression_type is not ExpressionType.ONE_TIME:
        return True
    return timetable.previous_before(now + datetime.resolution) is None


def _unwindowed(timetable: Timetable) -> Timetable:
    return timetable.inner if isinstance(timetable, Windowed) else timetable


def _warnings(
    timetable: Timetable, definition: Definition, question: Question, last_listed: datetime | None, *, valid: bool
) -> tuple[Finding, ...]:
    if definition.expression_type is ExpressionType.ONE_TIME:
        return _one_time_warnings(definition, question)
    if definition.expression_type is not ExpressionType.CRON:
        return ()
    expression = read_expression(definition.expression.strip())
    warnings = day_warnings(expression, fnv1a(question.hash_key), definition.day_match)
    inner = _unwindowed(timetable)
    if valid and isinstance(inner, CronTimetable):
        warnings += clock_warnings(inner, definition, question.now, last_listed)
    return tuple(warnings)


def _one_time_warnings(definition: Definition, question: Question) -> tuple[Finding, ...]:
    wall = read_instant(definition.expression.strip())
    zone = zone_of(definition, question.default_zone)
    change = clock_of(zone).change_at_wall(wall) if wall.tzinfo is None else None
    if change is None:
        return ()
    return (warning_about(Affected(change=change, first=wall, last=wall), zone, definition),)

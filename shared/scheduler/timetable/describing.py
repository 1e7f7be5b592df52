"""Says an expression in English, in a small regular grammar: times, days, months, years.

`at 02:30, on Monday to Friday`; `every 15 minutes of hours 9 to 17, on day 1 of the month, in January`. The zone is
left out: it is shown beside the description.
"""

from datetime import UTC, timedelta

from scheduler.domain.schedules import Definition
from scheduler.domain.states import DayMatch, ExpressionType
from scheduler.timetable.compiling import interval_of
from scheduler.timetable.dialect import Expression, ReadField, read_expression
from scheduler.timetable.fields import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, SECOND, YEAR
from scheduler.timetable.onetime import read_instant
from scheduler.timetable.phrases import and_list, day_phrase, month_phrase, unit_phrase, weekday_phrase, year_phrase
from scheduler.timetable.resolving import field_values

_MAX_CLOCK_TIMES = 6
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


def describe(definition: Definition) -> str:
    """Return what `definition` says, in English.

    Raises InvalidInputError when the expression cannot be read.
    """
    interval = interval_of(definition)
    if interval is not None:
        return f"every {_length(interval)}, counted from the creation of the schedule"
    if definition.expression_type is ExpressionType.ONE_TIME:
        return _describe_instant(definition.expression.strip())
    expression = read_expression(definition.expression.strip())
    if not expression.fields:
        return "never by itself, only when triggered"
    clauses = (_times(expression), _days(expression, definition.day_match), *_months_and_years(expression))
    return ", ".join(clause for clause in clauses if clause)


def _describe_instant(text: str) -> str:
    instant = read_instant(text)
    if instant.tzinfo is None:
        return f"once, at {instant:%Y-%m-%d %H:%M:%S}"
    return f"once, at {instant.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _length(interval: timedelta) -> str:
    """Return a duration in words; `every hour` rather than `every 1 hour`."""
    rest = int(interval.total_seconds())
    parts = []
    for unit, seconds in _UNITS:
        number, rest = divmod(rest, seconds)
        if number:
            parts.append(f"{number} {unit}{'s' if number > 1 else ''}")
    words = and_list(parts)
    return words.removeprefix("1 ") if len(parts) == 1 else words


def _times(expression: Expression) -> str:
    second, minute, hour = (expression.field(kind) for kind in (SECOND, MINUTE, HOUR))
    assert minute is not None
    assert hour is not None
    clocks = _clock_times(second, minute, hour)
    if clocks:
        return f"at {and_list(clocks)}"
    fields = [minute, hour]
    if second is not None and second.text != "0":
        fields.insert(0, second)
    phrases: list[str] = []
    for field in fields:
        phrase = unit_phrase(field)
        # "every 15 minutes" already means those of every hour
        if not (phrase == f"every {field.kind.name}" and phrases and phrases[-1].startswith("every")):
            phrases.append(phrase)
    words = " of ".join(phrases)
    return words if words.startswith("every") else f"at {words}"


def _clock_times(second: ReadField | None, minute: ReadField, hour: ReadField) -> list[str]:
    """Return the times of day, when they are few and no H hides them."""
    fields = [field for field in (hour, minute, second) if field is not None]
    if any(field.hashed for field in fields):
        return []
    hours, minutes = field_values(hour, 0), field_values(minute, 0)
    seconds = field_values(second, 0) if second is not None else (0,)
    if len(seconds) != 1 or len(hours) * len(minutes) > _MAX_CLOCK_TIMES:
        return []
    tail = f":{seconds[0]:02}" if seconds[0] else ""
    return [f"{each_hour:02}:{each_minute:02}{tail}" for each_hour in hours for each_minute in minutes]


def _days(expression: Expression, day_match: DayMatch) -> str:
    day, weekday = expression.field(DAY_OF_MONTH), expression.field(DAY_OF_WEEK)
    assert day is not None
    assert weekday is not None
    if day.unrestricted and weekday.unrestricted:
        return ""
    if weekday.unrestricted:
        return f"on {day_phrase(day)}"
    if day.unrestricted:
        return f"on {weekday_phrase(weekday)}"
    joint = "when it falls on" if day_match is DayMatch.ALL else "or on"
    return f"on {day_phrase(day)} {joint} {weekday_phrase(weekday)}"


def _months_and_years(expression: Expression) -> list[str]:
    month, year = expression.field(MONTH), expression.field(YEAR)
    clauses = []
    if month is not None and not month.unrestricted:
        clauses.append(f"in {month_phrase(month)}")
    if year is not None and not year.unrestricted:
        clauses.append(f"in {year_phrase(year)}")
    return clauses

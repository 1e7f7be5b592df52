"""Turns an expression into explicit value lists: names, steps, wrap-around and H are settled here."""

from dataclasses import dataclass

from scheduler.domain.states import DayMatch
from scheduler.timetable.days import DayRule
from scheduler.timetable.dialect import Expression, ReadField
from scheduler.timetable.elements import SPECIAL, Element
from scheduler.timetable.fields import DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, SECOND, YEAR, FieldKind


@dataclass(frozen=True, slots=True)
class Fields:
    """Everything that decides the wall-clock times of an expression; equal ones share their work."""

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: tuple[int, ...]
    years: tuple[range, ...] | None  # None: any year
    days: DayRule


@dataclass(frozen=True, slots=True)
class HashedField:
    """What the H of one field resolved to."""

    field: str
    value: str
    resolved: str


def resolve(expression: Expression, hash_value: int, day_match: DayMatch) -> Fields:
    """Return the value lists of an expression that has fields."""
    by_kind = {field.kind.name: field for field in expression.fields}

    def values(kind: FieldKind) -> tuple[int, ...]:
        return field_values(by_kind[kind.name], hash_value)

    return Fields(
        seconds=values(SECOND) if SECOND.name in by_kind else (0,),
        minutes=values(MINUTE),
        hours=values(HOUR),
        months=values(MONTH),
        years=_years(by_kind.get(YEAR.name)),
        days=_day_rule(by_kind[DAY_OF_MONTH.name], by_kind[DAY_OF_WEEK.name], hash_value, day_match),
    )


def field_values(field: ReadField, hash_value: int) -> tuple[int, ...]:
    """Return the plain values of a field, sorted; Sunday is 0."""
    values = {value for element in field.elements for value in element.values(field.kind, hash_value)}
    if field.kind is DAY_OF_WEEK:
        values = {value % 7 for value in values}
    return tuple(sorted(values))


def hashed_fields(expression: Expression, hash_value: int) -> tuple[HashedField, ...]:
    """Return what each field with an H resolved to."""
    return tuple(
        HashedField(field.kind.name, field.text, ",".join(map(str, field_values(field, hash_value))))
        for field in expression.fields
        if field.hashed
    )


def _years(field: ReadField | None) -> tuple[range, ...] | None:
    """Return the years as ranges, because 2000-9999 need not be a list of 8,000."""
    if field is None or any(element.whole for element in field.elements):
        return None
    return tuple(range(element.low, element.high + 1, element.step) for element in field.elements)


def _day_rule(day: ReadField, weekday: ReadField, hash_value: int, day_match: DayMatch) -> DayRule:
    return DayRule(
        days=field_values(day, hash_value),
        special_days=_specials(day),
        any_day=day.unrestricted,
        weekdays=field_values(weekday, hash_value),
        special_weekdays=_specials(weekday),
        any_weekday=weekday.unrestricted,
        match=day_match,
    )


def _specials(field: ReadField) -> tuple[Element, ...]:
    return tuple(element for element in field.elements if element.kind in SPECIAL)

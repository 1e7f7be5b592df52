"""L, W and #, alone and in lists; both day fields together."""

import pytest

from scheduler.domain.states import DayMatch
from scheduler.timetable.dialect import read_expression
from scheduler.timetable.resolving import resolve
from scheduler.timetable.walls import WallTimes

_SOLUTIONS = [
    # 2026-02 has 28 days and begins on a Sunday; 2026-08 has 31 and begins on a Saturday; 2026-05 ends on a Sunday
    ("L", "*", 2026, 2, (28,)),
    ("L", "*", 2028, 2, (29,)),
    ("L-3", "*", 2026, 8, (28,)),
    ("L-28", "*", 2026, 2, ()),
    ("L-27", "*", 2026, 2, (1,)),
    ("LW", "*", 2026, 5, (29,)),
    ("LW", "*", 2026, 2, (27,)),
    ("LW", "*", 2026, 8, (31,)),
    ("1W", "*", 2026, 8, (3,)),
    ("1W", "*", 2026, 2, (2,)),
    ("15W", "*", 2026, 8, (14,)),
    ("16W", "*", 2026, 8, (17,)),
    ("31W", "*", 2026, 5, (29,)),
    ("31W", "*", 2026, 2, ()),
    ("15W,16", "*", 2026, 8, (14, 16)),
    ("1,L", "*", 2026, 2, (1, 28)),
    ("26-3", "*", 2026, 2, (1, 2, 3, 26, 27, 28)),
    ("*", "SUN", 2026, 2, (1, 8, 15, 22)),
    ("*", "7", 2026, 2, (1, 8, 15, 22)),
    ("*", "FRI-SUN", 2026, 2, (1, 6, 7, 8, 13, 14, 15, 20, 21, 22, 27, 28)),
    ("*", "FRI#1", 2026, 2, (6,)),
    ("*", "SAT#5", 2026, 8, (29,)),
    ("*", "SUN#5", 2026, 2, ()),
    ("*", "SUN#L", 2026, 2, (22,)),
    ("*", "7#2", 2026, 2, (8,)),
    ("*", "MON#1,TUE", 2026, 2, (2, 3, 10, 17, 24)),
    ("13", "FRI", 2026, 2, (13,)),
    ("14", "FRI", 2026, 2, ()),
]


@pytest.mark.parametrize(("day", "weekday", "year", "month", "expected"), _SOLUTIONS)
def test_the_days_of_a_month(day: str, weekday: str, year: int, month: int, expected: tuple[int, ...]) -> None:
    assert _days(day, weekday, year, month, DayMatch.ALL) == expected


@pytest.mark.parametrize(
    ("day", "weekday", "expected"),
    [
        ("13", "FRI", (6, 13, 20, 27)),
        ("1", "MON#1", (1, 2)),
        ("*", "FRI", (6, 13, 20, 27)),
        ("?", "FRI", (6, 13, 20, 27)),
        ("13", "*", (13,)),
        ("30", "SUN#L", (22,)),
    ],
)
def test_with_day_match_any_either_restricted_field_is_enough(
    day: str, weekday: str, expected: tuple[int, ...]
) -> None:
    assert _days(day, weekday, 2026, 2, DayMatch.ANY) == expected


def test_a_step_over_all_days_is_a_restriction() -> None:
    assert _days("*/30", "MON", 2026, 2, DayMatch.ANY) == (1, 2, 9, 16, 23)


def _days(day: str, weekday: str, year: int, month: int, day_match: DayMatch) -> tuple[int, ...]:
    expression = read_expression(f"0 0 {day} * {weekday}")
    return WallTimes(resolve(expression, 0, day_match)).days_in(year, month)

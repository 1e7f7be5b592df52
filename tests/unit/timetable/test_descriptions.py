"""Everything that the dialect can say has a description in English (checklist 138)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.domain.schedules import Definition
from scheduler.domain.states import DayMatch, ExpressionType
from scheduler.timetable.describing import describe
from tests.unit.timetable.vectors import lines

_DESCRIPTIONS = [
    ("30 2 * * MON-FRI", "at 02:30, on Monday to Friday"),
    ("* * * * *", "every minute"),
    ("* * * * * *", "every second"),
    ("*/15 * * * *", "every 15 minutes"),
    ("*/7 * * * *", "every 7 minutes from 0 to 59"),
    ("*/15 9-17 * * *", "every 15 minutes of hours 9 to 17"),
    ("5/15 * * * *", "every 15 minutes from 5 to 59"),
    ("0 * * * *", "at minute 0 of every hour"),
    ("0 */2 * * *", "at minute 0 of every 2 hours"),
    ("5,10,40 * * * *", "at minutes 5, 10 and 40 of every hour"),
    ("5,10-12,*/30 * * * *", "at minutes 5 and 10 to 12 and every 30 minutes of every hour"),
    ("15 30 2 * * *", "at 02:30:15"),
    ("*/20 30 * * * *", "every 20 seconds of minute 30 of every hour"),
    ("15 */4 * * * *", "at second 15 of every 4 minutes"),
    ("0 9,17 * * *", "at 09:00 and 17:00"),
    ("0 22-2 * * *", "at 00:00, 01:00, 02:00, 22:00 and 23:00"),
    ("H(15-45) 2 * * *", "at a hashed minute from 15 to 45 of hour 2"),
    ("H H * * *", "at a hashed minute of a hashed hour"),
    ("H/15 * * * *", "every 15 minutes from a hashed start"),
    ("H(0-30)/10 * * * *", "every 10 minutes from a hashed start between 0 and 30"),
    ("0 0 13 * FRI", "at 00:00, on day 13 of the month when it falls on Friday"),
    ("0 0 1,15 * *", "at 00:00, on days 1 and 15 of the month"),
    ("0 0 */10 * *", "at 00:00, on every 10 days from 1 to 31 of the month"),
    ("0 0 L * *", "at 00:00, on the last day of the month"),
    ("0 0 L-3 * *", "at 00:00, on the 3rd day before the last of the month"),
    ("0 0 L-11 * *", "at 00:00, on the 11th day before the last of the month"),
    ("0 0 LW * *", "at 00:00, on the last weekday of the month"),
    ("0 0 15W,L * *", "at 00:00, on the weekday nearest day 15 of the month and the last day of the month"),
    ("0 0 H * H", "at 00:00, on a hashed day of the month when it falls on a hashed weekday"),
    ("0 0 * * FRI#3", "at 00:00, on the third Friday of the month"),
    ("0 0 * * 5#L,SUN", "at 00:00, on the last Friday of the month and Sunday"),
    ("0 0 * * 1/2", "at 00:00, on Monday, Wednesday, Friday and Sunday"),
    ("0 0 1 JAN-MAR,7 *", "at 00:00, on day 1 of the month, in January to March and July"),
    ("0 0 1 */3 *", "at 00:00, on day 1 of the month, in January, April, July and October"),
    ("0 0 1 H *", "at 00:00, on day 1 of the month, in a hashed month"),
    ("0 0 1 1 * 2027", "at 00:00, on day 1 of the month, in January, in 2027"),
    (
        "0 0 1 1 * 2027-2031/2,2040/5",
        "at 00:00, on day 1 of the month, in January, in every 2 years from 2027 to 2031 and every 5 years from 2040",
    ),
    (", * * * *", "at no minute of every hour"),
    ("CRON_TZ=Europe/Berlin @weekly", "at 00:00, on Sunday"),
    ("0 0 * * FRI#1,*", "at 00:00, on the first Friday of the month and every weekday"),
    ("@yearly", "at 00:00, on day 1 of the month, in January"),
    ("@every 1h30m", "every 1 hour and 30 minutes, counted from the creation of the schedule"),
    ("@every 24h", "every day, counted from the creation of the schedule"),
    ("@triggered", "never by itself, only when triggered"),
]


@pytest.mark.parametrize(("expression", "description"), _DESCRIPTIONS)
def test_an_expression_is_said_in_english(expression: str, description: str) -> None:
    assert describe(Definition(expression=expression)) == description


def test_day_match_any_says_or() -> None:
    definition = Definition(expression="0 0 13 * FRI", day_match=DayMatch.ANY)
    assert describe(definition) == "at 00:00, on day 13 of the month or on Friday"


@pytest.mark.parametrize(
    ("text", "kind", "description"),
    [
        ("PT5M", ExpressionType.FIXED_RATE, "every 5 minutes, counted from the creation of the schedule"),
        ("PT1S", ExpressionType.FIXED_RATE, "every second, counted from the creation of the schedule"),
        ("2027-01-01T10:30:00+02:00", ExpressionType.ONE_TIME, "once, at 2027-01-01 08:30:00 UTC"),
        ("2027-01-01T10:30", ExpressionType.ONE_TIME, "once, at 2027-01-01 10:30:00"),
    ],
)
def test_other_expression_types_are_said_as_well(text: str, kind: ExpressionType, description: str) -> None:
    assert describe(Definition(expression=text, expression_type=kind)) == description


def test_every_known_expression_has_a_description() -> None:
    for line in lines("reference_next"):
        if "invalid" not in line:
            words = describe(Definition(expression=line["expression"]))
            assert words.split()[0] in {"at", "every", "never"}
            assert "  " not in words


_ITEMS = ["*", "5", "3-6", "6-3", "*/2", "3/2", "3-6/2", "H", "H(3-6)", "H/2", "H(1-6)/3", ""]
_DAYS = [*_ITEMS, "L", "L-2", "LW", "3W"]
_WEEKDAYS = [*_ITEMS, "FRI#2", "5#L", "SUN-TUE"]


def _list(items: list[str]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(items), min_size=1, max_size=3).map(lambda parts: ",".join(parts) or ",")


@settings(max_examples=150, deadline=None)
@given(st.tuples(*map(_list, (_ITEMS, _ITEMS, _ITEMS, _DAYS, _ITEMS, _WEEKDAYS))))
def test_whatever_parses_can_be_described(fields: tuple[str, ...]) -> None:
    assert describe(Definition(expression=" ".join(fields)))

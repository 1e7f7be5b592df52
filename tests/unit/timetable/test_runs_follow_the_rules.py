"""Property tests: the timetable against a plain reading of the rules, over 29 zones and 15 years."""

from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.domain.schedules import Definition
from scheduler.domain.states import DayMatch, OnFold, OnGap
from scheduler.timetable import Timetable, compile_timetable
from tests.unit.timetable import oracle
from tests.unit.timetable.oracle import FIRST_YEAR, LAST_YEAR, ZONES, Rule

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)


@cache
def _dates_of_changes(name: str) -> list[date]:
    return oracle.dates_of_changes(oracle.zone(name))


@st.composite
def _days(draw: st.DrawFn, name: str) -> date:
    """Draw a day, mostly one near a change of the clock."""
    some_day = draw(st.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31)))
    days_from_a_change = draw(st.integers(-1, 1))
    if not _dates_of_changes(name) or not draw(st.integers(0, 4)):
        return some_day
    return draw(st.sampled_from(_dates_of_changes(name))) + days_from_a_change * _DAY


def _some(values: range, most: int) -> st.SearchStrategy[frozenset[int]]:
    return st.frozensets(st.sampled_from(values), min_size=1, max_size=most)


def _rules() -> st.SearchStrategy[Rule]:
    return st.builds(
        Rule,
        minutes=st.one_of(_some(range(0, 60, 15), 4), _some(range(60), 3)),
        hours=st.one_of(_some(range(4), 3), _some(range(24), 6), st.just(frozenset(range(24)))),
        days=st.one_of(st.none(), _some(range(1, 32), 20)),
        months=st.one_of(st.none(), _some(range(1, 13), 10)),
        weekdays=st.one_of(st.none(), _some(range(7), 5)),
    )


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Definition, Rule, datetime]:
    name = draw(st.sampled_from(ZONES))
    rule = draw(_rules())
    definition = Definition(
        expression=rule.expression,
        time_zone=name,
        day_match=draw(st.sampled_from(DayMatch)),
        on_gap=draw(st.sampled_from(OnGap)),
        on_fold=draw(st.sampled_from(OnFold)),
    )
    minutes = draw(st.integers(0, 24 * 60))
    return definition, rule, datetime.combine(draw(_days(name)), time(), UTC) + minutes * _MINUTE - _DAY


def _expected(definition: Definition, rule: Rule, after: datetime, until: datetime) -> list[datetime]:
    assert definition.time_zone is not None
    walls = rule.walls(after.date() - 2 * _DAY, until.date() + 2 * _DAY, definition.day_match)
    found = oracle.runs(walls, oracle.zone(definition.time_zone), definition.on_gap, definition.on_fold)
    return [run for run in found if after < run <= until]


def _walk(timetable: Timetable, after: datetime, until: datetime) -> list[datetime]:
    found: list[datetime] = []
    while (run := timetable.next_after(found[-1] if found else after)) is not None and run <= until:
        found.append(run)
    return found


def _timetable(definition: Definition) -> Timetable:
    return compile_timetable(definition, hash_key="")


@settings(max_examples=400, deadline=None)
@given(_cases())
def test_the_runs_of_three_days_are_those_of_a_plain_reading_of_the_rules(
    case: tuple[Definition, Rule, datetime],
) -> None:
    definition, rule, after = case
    until = after + 3 * _DAY
    timetable = _timetable(definition)
    expected = _expected(definition, rule, after, until)
    assert _walk(timetable, after, until) == expected
    assert timetable.count(after, until) == len(expected)
    assert timetable.previous(until + _MINUTE / 60, len(expected)) == expected[::-1]


@settings(max_examples=150, deadline=None)
@given(_cases(), st.integers(0, 3 * 86_400))
def test_from_any_instant_the_next_run_is_the_next_of_the_whole_list(
    case: tuple[Definition, Rule, datetime], seconds: int
) -> None:
    """So asking for n runs at once equals asking n times for one, wherever one begins."""
    definition, rule, after = case
    until, asked = after + 3 * _DAY, after + timedelta(seconds=seconds)
    timetable = _timetable(definition)
    expected = [run for run in _expected(definition, rule, after, until) if run > asked]
    assert timetable.runs(asked, len(expected)) == expected


@settings(max_examples=40, deadline=None)
@given(_cases())
def test_runs_are_strictly_increasing_instants_over_years(case: tuple[Definition, Rule, datetime]) -> None:
    definition, _, after = case
    runs = _timetable(definition).runs(after, 200)
    assert all(earlier < later for earlier, later in pairwise(runs))


@settings(max_examples=150, deadline=None)
@given(_cases(), st.integers(0, 5 * 86_400))
def test_a_range_is_counted_as_if_it_were_walked(case: tuple[Definition, Rule, datetime], seconds: int) -> None:
    definition, _, after = case
    until = after + timedelta(seconds=seconds)
    timetable = _timetable(definition)
    walked = _walk(timetable, after, until)
    found = timetable.count_between(after, until)
    assert (found and (found.count, found.first, found.last)) == (
        (len(walked), walked[0], walked[-1]) if walked else None
    )


@pytest.mark.parametrize("name", ZONES)
def test_shift_never_loses_a_day_of_a_daily_schedule(name: str) -> None:
    start, end = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC), datetime(LAST_YEAR, 12, 31, tzinfo=UTC)
    for expression in ("0 0 * * *", "30 0 * * *", "30 1 * * *", "15 2 * * *", "59 23 * * *"):
        timetable = _timetable(Definition(expression=expression, time_zone=name))
        assert abs(timetable.count(start, end) - (end - start).days) <= 1
        for day in _dates_of_changes(name):
            runs = timetable.runs(datetime.combine(day, time(), UTC) - 3 * _DAY, 6)
            assert all(20 * _HOUR <= later - earlier <= 28 * _HOUR for earlier, later in pairwise(runs))

"""The iteration of wall times, against a search second by second and day by day."""

from datetime import date, datetime, time, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.domain.states import DayMatch
from scheduler.timetable.dialect import read_expression
from scheduler.timetable.resolving import resolve
from scheduler.timetable.walls import WallTimes

_DAY = timedelta(days=1)
_DAYS_SEARCHED = 800


def _lists(low: int, high: int) -> st.SearchStrategy[str]:
    values = st.lists(st.integers(low, high).map(str), min_size=1, max_size=4)
    return st.one_of(st.just("*"), values.map(",".join))


_DAYS = st.one_of(_lists(1, 31), st.sampled_from(["L", "LW", "L-3", "15W", "31W", "1W,L", "10,L-30,30W"]))
_WEEKDAYS = st.one_of(_lists(0, 7), st.sampled_from(["MON#1", "FRI#5", "FRI#L", "TUE,SUN#2", "1-5", "FRI-MON"]))
_EXPRESSIONS = st.tuples(
    _lists(0, 59), _lists(0, 59), _lists(0, 23), _DAYS, _lists(1, 12), _WEEKDAYS, st.sampled_from(["*", "2024-2027"])
).map(" ".join)
_WALLS = st.datetimes(datetime(2023, 6, 1), datetime(2027, 6, 1))  # noqa: DTZ001 - wall times have no zone


def _walls(expression: str) -> WallTimes:
    return WallTimes(resolve(read_expression(expression), 0, DayMatch.ALL))


def _on(walls: WallTimes, day: date) -> list[datetime]:
    return [datetime.combine(day, moment) for moment in walls.times] if _is_matching(walls, day) else []


def _is_matching(walls: WallTimes, day: date) -> bool:
    return walls.matches(datetime.combine(day, walls.times.first()))


@settings(max_examples=150, deadline=None)
@given(_EXPRESSIONS, _WALLS)
def test_the_next_wall_time_is_the_first_one_behind(expression: str, wall: datetime) -> None:
    walls = _walls(expression)
    days = (wall.date() + number * _DAY for number in range(_DAYS_SEARCHED))
    expected = next(
        (found for day in days if _is_matching(walls, day) for found in _on(walls, day) if found > wall), None
    )
    found = walls.next_after(wall, wall.year + 40)
    assert found == expected or (expected is None and (found is None or found > wall + _DAYS_SEARCHED * _DAY - _DAY))


@settings(max_examples=150, deadline=None)
@given(_EXPRESSIONS, _WALLS)
def test_the_previous_wall_time_is_the_last_one_before(expression: str, wall: datetime) -> None:
    walls = _walls(expression)
    days = (wall.date() - number * _DAY for number in range(_DAYS_SEARCHED))
    matching = (day for day in days if _is_matching(walls, day))
    expected = next((found for day in matching for found in reversed(_on(walls, day)) if found < wall), None)
    found = walls.previous_before(wall, wall.year - 40)
    assert found == expected or (expected is None and (found is None or found < wall - _DAYS_SEARCHED * _DAY + _DAY))


@settings(max_examples=100, deadline=None)
@given(_EXPRESSIONS, _WALLS, st.integers(0, 90 * 86_400))
def test_wall_times_are_counted_as_if_they_were_listed(expression: str, start: datetime, seconds: int) -> None:
    walls = _walls(expression)
    end = start + timedelta(seconds=min(seconds, 90 * 86_400 // max(walls.times.per_day // 50, 1)))
    assert walls.count(start, end) == sum(1 for _ in walls.between(start, end))


@settings(max_examples=200, deadline=None)
@given(_EXPRESSIONS, st.times())
def test_the_times_before_a_moment_are_counted_as_if_they_were_listed(expression: str, moment: time) -> None:
    times = _walls(expression).times
    assert times.before(moment) == sum(each < moment for each in times)

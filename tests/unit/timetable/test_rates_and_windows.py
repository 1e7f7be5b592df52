"""Fixed rates and @every count from a stored anchor; a window bounds any timetable."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.schedules import Definition
from scheduler.domain.states import ExpressionType
from scheduler.timetable import Timetable, compile_timetable, interval_of
from scheduler.timetable.durations import DurationError, go_duration, iso_duration

_ANCHOR = datetime(2026, 11, 30, 12, 0, 0, 700_000, tzinfo=UTC)
_WHOLE = _ANCHOR.replace(microsecond=0)
_MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90m", 5_400),
        ("1h30m10.5s", 5_410),
        ("1.5h", 5_400),
        ("1500ms", 1),
        ("+2s", 2),
        (".5m", 30),
        ("1.m", 60),
        ("3000000µs", 3),
        ("3000000μs", 3),
        ("24h0m0s", 86_400),
        ("1h1h", 7_200),
    ],
)
def test_go_durations_are_read_like_the_reference_reads_them(text: str, seconds: int) -> None:
    assert go_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "1d", "-5m", "0s", "500ms", "1x", "1h 30m", "P1D", "h", ".s", "0"])
def test_what_is_no_go_duration_of_a_second_is_refused(text: str) -> None:
    with pytest.raises(DurationError):
        go_duration(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT5M", 300),
        ("PT1S", 1),
        ("P1D", 86_400),
        ("P2W", 14 * 86_400),
        ("P1DT12H", 129_600),
        ("PT1.9S", 1),
        ("PT36H", 129_600),
    ],
)
def test_iso_durations_have_weeks_to_seconds(text: str, seconds: int) -> None:
    assert iso_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "5M", "PT0S", "PT0.5S", "-PT5M", "pt5m", "P1M", "P1Y", "P1Y2M3D", "PT5"]
)
def test_what_has_no_fixed_length_of_a_second_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        _rate(text)
    (finding,) = refusal.value.findings
    assert finding.code == "parse_error"
    assert ("not fixed" in finding.message) == (text in {"P1M", "P1Y", "P1Y2M3D"})


def test_the_first_run_is_one_interval_behind_the_anchor_and_the_rest_follow_from_it() -> None:
    timetable = _rate("PT5M")
    assert timetable.runs(_ANCHOR, 2) == [_ANCHOR + 5 * _MINUTE, _ANCHOR + 10 * _MINUTE]
    assert timetable.next_after(_ANCHOR - 600 * _MINUTE) == _ANCHOR + 5 * _MINUTE
    assert timetable.next_after(_ANCHOR + 5 * _MINUTE) == _ANCHOR + 10 * _MINUTE
    assert timetable.previous(_ANCHOR + 11 * _MINUTE, 5) == [_ANCHOR + 10 * _MINUTE, _ANCHOR + 5 * _MINUTE]
    assert timetable.previous(_ANCHOR + 5 * _MINUTE, 1) == []


def test_every_counts_like_a_fixed_rate_but_on_whole_seconds() -> None:
    definition = Definition(expression="TZ=Europe/Berlin @every 1h30m10.5s", anchor_at=_ANCHOR)
    assert interval_of(definition) == timedelta(seconds=5_410)
    timetable = compile_timetable(definition, hash_key="")
    assert timetable.next_after(_ANCHOR) == _WHOLE + timedelta(seconds=5_410)


def test_without_an_anchor_an_interval_counts_from_the_question() -> None:
    timetable = compile_timetable(Definition(expression="@every 90m"), hash_key="")
    assert timetable.runs(_ANCHOR, 2) == [_WHOLE + 90 * _MINUTE, _WHOLE + 180 * _MINUTE]
    assert timetable.previous(_ANCHOR, 3) == []
    assert timetable.count(_WHOLE, _WHOLE + 180 * _MINUTE) == 2


@pytest.mark.parametrize("text", ["P15000D", "P99999999W", "PT9999999999999S"])
def test_an_interval_of_more_than_forty_years_never_ends(text: str) -> None:
    assert _rate(text).next_after(_ANCHOR) is None


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 5_000), st.integers(-10_000, 10_000), st.integers(0, 20_000))
def test_intervals_are_counted_as_if_they_were_walked(interval: int, start: int, length: int) -> None:
    timetable = _rate(f"PT{interval}S")
    after, until = _WHOLE + timedelta(seconds=start), _WHOLE + timedelta(seconds=start + length)
    walked = [run for run in timetable.runs(after, length // interval + 2) if run <= until]
    assert timetable.count(after, until) == len(walked)


def test_nothing_is_due_outside_the_window_and_its_ends_belong_to_it() -> None:
    start, end = datetime(2027, 1, 1, 10, tzinfo=UTC), datetime(2027, 1, 1, 12, tzinfo=UTC)
    definition = Definition(expression="0 * * * *", start_time=start, end_time=end)
    timetable = compile_timetable(definition, hash_key="")
    hours = [start, start + 60 * _MINUTE, end]
    assert timetable.runs(_ANCHOR, 9) == hours
    assert timetable.previous(datetime(2028, 1, 1, tzinfo=UTC), 9) == hours[::-1]
    assert timetable.count(_ANCHOR, datetime(2028, 1, 1, tzinfo=UTC)) == 3
    assert timetable.count(end, datetime(2028, 1, 1, tzinfo=UTC)) == 0
    assert timetable.next_after(end) is None
    assert timetable.is_due(start)
    assert not timetable.is_due(start - 60 * _MINUTE)


def test_a_window_may_be_open_at_either_end() -> None:
    start = datetime(2027, 1, 1, 10, tzinfo=UTC)
    late = compile_timetable(Definition(expression="0 * * * *", start_time=start), hash_key="")
    early = compile_timetable(Definition(expression="0 * * * *", end_time=start), hash_key="")
    assert late.next_after(_ANCHOR) == start
    assert late.previous(start, 1) == []
    assert early.next_after(start - 30 * _MINUTE) == start
    assert early.next_after(start) is None


def _rate(text: str) -> Timetable:
    definition = Definition(expression=text, expression_type=ExpressionType.FIXED_RATE, anchor_at=_ANCHOR)
    return compile_timetable(definition, hash_key="")

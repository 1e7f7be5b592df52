"""Clock changes that really happened or are on the books, one sentence each."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from scheduler.domain.schedules import Definition
from scheduler.domain.states import ExpressionType, OnFold, OnGap
from scheduler.timetable import compile_timetable
from tests.unit.timetable import oracle


def _local(expression: str, zone: str, after: str, count: int, **policies: object) -> list[str]:
    """Return the next runs as wall times with offset; `after` is a wall time as well."""
    definition = Definition(expression=expression, time_zone=zone, **policies)  # type: ignore[arg-type]
    where = oracle.zone(zone)
    start = datetime.fromisoformat(after).replace(tzinfo=where).astimezone(UTC)
    return [_shown(run, where) for run in compile_timetable(definition, hash_key="").runs(start, count)]


def _shown(run: datetime, where: ZoneInfo) -> str:
    return f"{run.astimezone(where):%m-%d %H:%M %z}"


def test_a_daily_run_at_half_past_one_in_london_runs_once_on_both_changes() -> None:
    assert _local("30 1 * * *", "Europe/London", "2027-03-27T12:00", 2) == ["03-28 02:30 +0100", "03-29 01:30 +0100"]
    assert _local("30 1 * * *", "Europe/London", "2027-10-30T12:00", 2) == ["10-31 01:30 +0100", "11-01 01:30 +0000"]


def test_a_daily_run_at_half_past_two_in_berlin_runs_once_on_both_changes() -> None:
    assert _local("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00", 2) == ["03-28 03:30 +0200", "03-29 02:30 +0200"]
    assert _local("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00", 2) == ["10-31 02:30 +0200", "11-01 02:30 +0100"]


def test_next_valid_runs_at_the_end_of_the_gap_and_skip_not_at_all() -> None:
    arguments = ("30 2 * * *", "Europe/Berlin", "2027-03-27T12:00", 1)
    assert _local(*arguments, on_gap=OnGap.NEXT_VALID) == ["03-28 03:00 +0200"]
    assert _local(*arguments, on_gap=OnGap.SKIP) == ["03-29 02:30 +0200"]


def test_runs_moved_onto_one_instant_run_once() -> None:
    assert _local("30 2,3 * * *", "Europe/Berlin", "2027-03-28T00:00", 2) == ["03-28 03:30 +0200", "03-29 02:30 +0200"]
    assert _local("*/20 2 * * *", "Europe/Berlin", "2027-03-28T00:00", 2, on_gap=OnGap.NEXT_VALID) == [
        "03-28 03:00 +0200",
        "03-29 02:00 +0200",
    ]


@pytest.mark.parametrize(
    ("on_fold", "expected"),
    [
        (OnFold.AUTO, ["10-31 02:30 +0200", "11-01 02:30 +0100"]),
        (OnFold.EARLIER, ["10-31 02:30 +0200", "11-01 02:30 +0100"]),
        (OnFold.LATER, ["10-31 02:30 +0100", "11-01 02:30 +0100"]),
        (OnFold.BOTH, ["10-31 02:30 +0200", "10-31 02:30 +0100"]),
    ],
)
def test_a_wall_time_that_happens_twice_follows_its_policy(on_fold: OnFold, expected: list[str]) -> None:
    assert _local("30 2 * * *", "Europe/Berlin", "2027-10-30T12:00", 2, on_fold=on_fold) == expected


def test_every_five_minutes_keeps_running_through_both_readings_of_the_hour() -> None:
    runs = _local("*/5 1 * * *", "Europe/London", "2027-10-31T00:00", 25)
    assert runs[:2] == ["10-31 01:00 +0100", "10-31 01:05 +0100"]
    assert runs[11:13] == ["10-31 01:55 +0100", "10-31 01:00 +0000"]
    assert runs[24] == "11-01 01:00 +0000"


@pytest.mark.parametrize(
    ("zone", "after", "shifted"),
    [
        ("Africa/Cairo", "2027-04-29T12:00", "04-30 01:00 +0300"),  # last Friday of April, 00:00
        ("America/Havana", "2024-03-09T12:00", "03-10 01:00 -0400"),
        ("America/Santiago", "2027-09-04T12:00", "09-05 01:00 -0300"),
        ("Asia/Beirut", "2027-03-27T12:00", "03-28 01:00 +0300"),
    ],
)
def test_a_midnight_that_does_not_exist_is_not_lost(zone: str, after: str, shifted: str) -> None:
    first, second = _local("0 0 * * *", zone, after, 2)
    assert first == shifted
    assert second[6:11] == "00:00"


def test_the_half_hour_of_lord_howe_shifts_by_half_an_hour() -> None:
    assert _local("15 2 * * *", "Australia/Lord_Howe", "2027-10-02T12:00", 1) == ["10-03 02:45 +1100"]
    assert _local("45 1 * * *", "Australia/Lord_Howe", "2027-04-03T12:00", 2) == [
        "04-04 01:45 +1100",
        "04-05 01:45 +1030",
    ]


def test_a_gap_of_two_hours_shifts_by_two() -> None:
    assert _local("30 1 * * *", "Antarctica/Troll", "2027-03-27T12:00", 1) == ["03-28 03:30 +0200"]


def test_a_day_that_a_country_left_out_is_made_up_for_on_the_next() -> None:
    """Samoa had no 30 December 2011; what shift moves onto the 31st coincides with that day's own run."""
    assert _local("0 9 30 12 *", "Pacific/Apia", "2011-12-29T12:00", 1) == ["12-31 09:00 +1400"]
    assert _local("0 9 * * *", "Pacific/Apia", "2011-12-29T08:00", 3) == [
        "12-29 09:00 -1000",
        "12-31 09:00 +1400",
        "01-01 09:00 +1400",
    ]


def test_the_29th_of_february_is_left_out_in_2100() -> None:
    runs = compile_timetable(Definition(expression="0 0 29 2 *"), hash_key="").runs(datetime(2095, 1, 1, tzinfo=UTC), 3)
    assert [run.year for run in runs] == [2096, 2104, 2108]


def test_a_leap_day_on_a_monday_is_found_forty_years_ahead() -> None:
    timetable = compile_timetable(Definition(expression="0 0 29 2 MON"), hash_key="")
    assert timetable.next_after(datetime(2072, 2, 29, tzinfo=UTC)) == datetime(2112, 2, 29, tzinfo=UTC)


def test_what_has_no_value_at_all_has_no_runs_in_either_direction() -> None:
    timetable = compile_timetable(Definition(expression=", * * * *"), hash_key="")
    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert timetable.next_after(now) is None
    assert timetable.previous_before(now) is None
    assert timetable.count(now, datetime(2030, 1, 1, tzinfo=UTC)) == 0


def test_years_that_are_over_have_previous_runs_only() -> None:
    timetable = compile_timetable(Definition(expression="0 0 1 7 * 2020", time_zone="Europe/Berlin"), hash_key="")
    now = datetime(2026, 11, 30, tzinfo=UTC)
    assert timetable.next_after(now) is None
    assert timetable.previous(now, 3) == [datetime(2020, 6, 30, 22, tzinfo=UTC)]
    assert timetable.previous_before(datetime(2019, 1, 1, tzinfo=UTC)) is None


def test_years_far_ahead_are_reached_within_the_horizon_only() -> None:
    timetable = compile_timetable(Definition(expression="0 0 1 1 * 2106"), hash_key="")
    assert timetable.next_after(datetime(2065, 12, 31, tzinfo=UTC)) is None
    assert timetable.next_after(datetime(2066, 1, 1, tzinfo=UTC)) == datetime(2106, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_the_ends_of_the_calendar_raise_nothing(at: datetime) -> None:
    for zone in ("UTC", "Europe/Berlin", "GMT+14:00", "GMT-12:00", "America/Los_Angeles"):
        timetable = compile_timetable(Definition(expression="* * * * *", time_zone=zone), hash_key="")
        timetable.next_after(at)
        timetable.previous_before(at)
        timetable.count(at, at)


@pytest.mark.parametrize(
    ("text", "policies", "expected"),
    [
        ("2027-01-01T10:30:00Z", {}, "2027-01-01T10:30:00+00:00"),
        ("2027-01-01T10:30", {}, "2027-01-01T09:30:00+00:00"),
        ("2021-01-01T10:30:00.00Z", {}, "2021-01-01T10:30:00+00:00"),
        ("2027-01-01t10:30:00+05:30", {}, "2027-01-01T05:00:00+00:00"),
        ("9999-12-31T23:59:59Z", {}, "9999-12-31T23:59:59+00:00"),
        ("9999-12-31T23:59:59", {}, "9999-12-31T22:59:59+00:00"),
        ("2027-03-28T02:30", {}, "2027-03-28T01:30:00+00:00"),
        ("2027-03-28T02:30", {"on_gap": OnGap.NEXT_VALID}, "2027-03-28T01:00:00+00:00"),
        ("2027-03-28T02:30", {"on_gap": OnGap.SKIP}, None),
        ("2027-10-31T02:30", {}, "2027-10-31T00:30:00+00:00"),
        ("2027-10-31T02:30", {"on_fold": OnFold.LATER}, "2027-10-31T01:30:00+00:00"),
        ("2027-10-31T02:30", {"on_fold": OnFold.BOTH}, "2027-10-31T00:30:00+00:00"),
    ],
)
def test_a_one_time_schedule_has_one_instant(text: str, policies: dict[str, object], expected: str | None) -> None:
    kind = ExpressionType.ONE_TIME
    definition = Definition(expression=text, expression_type=kind, time_zone="Europe/Berlin", **policies)  # type: ignore[arg-type]
    runs = compile_timetable(definition, hash_key="").runs(datetime(2020, 1, 1, tzinfo=UTC), 2)
    assert [run.isoformat() for run in runs] == ([expected] if expected else [])

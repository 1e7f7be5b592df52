"""`sch next` and `sch zones` without a server."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sch.offline.batch import MAX_COUNT, answer, answer_lines
from sch.offline.instants import read_instant
from sch.offline.next_runs import Asked, next_runs, run_lines
from sch.offline.zones import zone_lines, zones_document
from scheduler.domain.states import DayMatch, ExpressionType, OnFold, OnGap
from scheduler.timetable import tz_database_version
from tests.unit.timetable.vectors import lines

_AFTER = "2026-11-30T12:00:00Z"
_START = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _answer(**fields: Any) -> dict[str, Any]:
    return answer(json.dumps({"id": "x", "after": _AFTER, "count": 2} | fields))


def test_a_line_is_answered_with_instants_in_utc() -> None:
    assert _answer(expression="CRON_TZ=Europe/Berlin 0 2 * * *") == {
        "id": "x",
        "next": ["2026-12-01T01:00:00Z", "2026-12-02T01:00:00Z"],
    }


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ({"expression": "0 2 * * *", "time_zone": "Asia/Tokyo"}, "2026-11-30T17:00:00Z"),
        ({"expression": "H(15-45) 2 * * *", "hash_key": "job-guid-A"}, "2026-12-01T02:18:00Z"),
        ({"expression": "0 0 13 * FRI", "day_match": "any"}, "2026-12-04T00:00:00Z"),
        ({"expression": "0 0 13 * FRI", "day_match": "all"}, "2027-08-13T00:00:00Z"),
        ({"expression": "PT90M", "expression_type": "fixed_rate"}, "2026-11-30T13:30:00Z"),
        (
            {"expression": "2027-01-01T10:30", "expression_type": "one_time", "time_zone": "GMT+2:00"},
            "2027-01-01T08:30:00Z",
        ),
        ({"expression": "0 2 * * *", "time_zone": None, "hash_key": None, "on_gap": None}, "2026-12-01T02:00:00Z"),
        ({"expression": "0 2 * * *", "after": "2026-11-30T12:00:00+14:00"}, "2026-11-30T02:00:00Z"),
        ({"expression": "0 2 * * *", "after": "2026-11-30T12:00:00"}, "2026-12-01T02:00:00Z"),
    ],
)
def test_a_line_may_say_how_to_read_it(fields: dict[str, Any], first: str) -> None:
    assert _answer(**fields)["next"][0] == first


@pytest.mark.parametrize(
    ("on_gap", "on_fold", "expected"),
    [
        ("shift", "auto", ["2027-03-28T01:30:00Z"]),
        ("next_valid", "auto", ["2027-03-28T01:00:00Z"]),
        ("skip", "both", ["2027-03-29T00:30:00Z"]),
    ],
)
def test_the_policies_of_clock_changes_may_be_given(on_gap: str, on_fold: str, expected: list[str]) -> None:
    berlin = {"expression": "30 2 * * *", "time_zone": "Europe/Berlin", "after": "2027-03-27T12:00:00Z", "count": 1}
    assert _answer(**berlin, on_gap=on_gap, on_fold=on_fold)["next"] == expected


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"expression": "61 * * * *"}, "parse_error"),
        ({"expression": "0 0 30 2 *"}, "never_fires"),
        ({"expression": "0 0 30 2 *", "count": 0}, "never_fires"),
        ({"expression": "TZ=UTC 0 2 * * *", "time_zone": "Asia/Tokyo"}, "time_zone_conflict"),
        ({"expression": "0 2 * * *", "expression_type": "cron"}, "unknown_expression_type"),
        ({}, "bad_request"),
        ({"expression": 5}, "bad_request"),
        ({"expression": "0 2 * * *", "after": "yesterday"}, "bad_request"),
        ({"expression": "0 2 * * *", "after": None}, "bad_request"),
        ({"expression": "0 2 * * *", "count": -1}, "bad_request"),
        ({"expression": "0 2 * * *", "count": True}, "bad_request"),
        ({"expression": "0 2 * * *", "count": MAX_COUNT + 1}, "bad_request"),
        ({"expression": "0 2 * * *", "on_gap": "jump"}, "bad_request"),
        ({"expression": "\ud800"}, "parse_error"),
    ],
)
def test_a_line_with_a_mistake_is_answered_with_errors(fields: dict[str, Any], code: str) -> None:
    answered = _answer(**fields)
    assert answered["id"] == "x"
    assert [error["code"] for error in answered["errors"]] == [code]
    json.dumps(answered)


@pytest.mark.parametrize("line", ["nonsense", "[]", '"x"', "{", "[" * 100_000, "null"])
def test_a_line_that_is_no_json_object_is_answered_all_the_same(line: str) -> None:
    answered = answer(line)
    assert answered["id"] is None
    assert [error["code"] for error in answered["errors"]] == ["bad_request"]


def test_a_parse_error_names_its_place() -> None:
    (error,) = _answer(expression="0 25 * * *")["errors"]
    assert (error["field"], error["value"], error["valid_range"], error["offset"]) == ("hour", "25", "0-23", 2)


def test_lines_are_answered_one_for_one_and_blank_ones_left_out() -> None:
    given = ['{"id": 1, "expression": "@daily", "after": "2026-11-30T12:00:00Z"}\n', "\n", "x\n", "  \n"]
    answers = [json.loads(line) for line in answer_lines(given)]
    assert [each["id"] for each in answers] == [1, None]
    assert len(answers[0]["next"]) == 5


def test_every_known_line_is_answered() -> None:
    asked = [*lines("reference_next"), *lines("reference_edge")]
    answers = [json.loads(line) for line in answer_lines(json.dumps({**line, "count": 1}) for line in asked)]
    assert [each["id"] for each in answers] == [line["id"] for line in asked]
    assert all(("next" in each) != ("errors" in each) for each in answers)
    refused = {each["id"] for each in answers if each.get("errors", [{}])[0].get("code") == "parse_error"}
    assert refused == {line["id"] for line in asked if line.get("invalid")}


def test_one_expression_is_analysed() -> None:
    asked = Asked(
        expression="30 2 * * MON-FRI",
        expression_type=ExpressionType.CRON,
        time_zone="Europe/Berlin",
        day_match=DayMatch.ALL,
        on_gap=OnGap.SKIP,
        on_fold=OnFold.LATER,
    )
    analysis = next_runs(asked, start=_START, count=2)
    assert analysis.description == "at 02:30, on Monday to Friday"
    assert list(run_lines(analysis)) == [
        "2026-12-01T01:30:00Z  Tue 2026-12-01 02:30:00 Europe/Berlin",
        "2026-12-02T01:30:00Z  Wed 2026-12-02 02:30:00 Europe/Berlin",
    ]


def test_runs_in_utc_are_shown_once() -> None:
    assert list(run_lines(next_runs(Asked(expression="@daily"), start=_START, count=1))) == ["2026-12-01T00:00:00Z"]
    assert list(run_lines(next_runs(Asked(expression="@every 1h"), start=_START, count=1))) == ["2026-11-30T13:00:00Z"]


def test_the_default_zone_may_be_another() -> None:
    asked = Asked(expression="0 2 * * *", default_zone="Asia/Tokyo")
    assert list(run_lines(next_runs(asked, start=_START, count=1))) == [
        "2026-11-30T17:00:00Z  Tue 2026-12-01 02:00:00 Asia/Tokyo"
    ]


def test_a_mistake_is_in_the_analysis() -> None:
    assert not next_runs(Asked(expression="61 * * * *"), start=_START).valid


@pytest.mark.parametrize("text", ["", "now", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+14:00"])
def test_what_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an instant"):
        read_instant(text)


def test_the_zones_are_listed_for_reading_and_as_json() -> None:
    shown = list(zone_lines("Europe/Oslo"))
    assert shown[0].startswith(f"time zone database {tz_database_version()}: ")
    (berlin,) = [line for line in shown if line.startswith("Europe/Berlin*")]
    assert "CET (UTC +01:00), daylight saving CEST (UTC +02:00). Starts on the last Sunday of March" in berlin
    assert "Europe/Oslo" in berlin
    document = zones_document("Europe/Oslo")
    assert len(document) == len(shown) - 1
    assert [row["Name"] for row in document if "IsServerTimeZone" in row] == ["Europe/Berlin"]

"""The analysis that validation, creation and the command line share (checklist 129, 130, 137-140)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.schedules import Definition
from scheduler.domain.states import DayMatch, ExpressionType, OnFold, OnGap
from scheduler.timetable.analysis import Analysis, Question, analyse
from scheduler.timetable.documents import analysis_document, instant_text
from scheduler.timetable.expression_types import read_expression_type
from scheduler.timetable.hashing import PLACEHOLDER_KEY, fnv1a

_NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _analyse(expression: str, *, question: Question | None = None, **definition: Any) -> Analysis:
    return analyse(Definition(expression=expression, **definition), question or Question(now=_NOW))


def _warnings(analysis: Analysis) -> list[tuple[str, str]]:
    return [(warning.code, warning.message) for warning in analysis.warnings]


def test_a_valid_expression_is_described_with_its_next_five_runs() -> None:
    analysis = _analyse("CRON_TZ=Europe/Berlin 30 2 * * MON-FRI")
    assert analysis.valid
    assert analysis.description == "at 02:30, on Monday to Friday"
    assert analysis.location == "Europe/Berlin"
    assert [instant_text(run) for run in analysis.next_runs] == [
        "2026-12-01T01:30:00Z",
        "2026-12-02T01:30:00Z",
        "2026-12-03T01:30:00Z",
        "2026-12-04T01:30:00Z",
        "2026-12-07T01:30:00Z",
    ]
    assert analysis.prev_runs == ()
    assert not analysis.illustrative


def test_as_many_runs_as_asked_for_are_listed_in_both_directions() -> None:
    analysis = _analyse("0 0 1 * *", question=Question(now=_NOW, next_count=100, prev_count=2))
    assert len(analysis.next_runs) == 100
    assert [instant_text(run) for run in analysis.prev_runs] == ["2026-11-01T00:00:00Z", "2026-10-01T00:00:00Z"]


def test_hashed_fields_show_what_h_resolved_to() -> None:
    analysis = _analyse("H H(1-3) * * *")
    value = fnv1a(PLACEHOLDER_KEY)
    assert [(field.field, field.value, field.resolved) for field in analysis.hashed_fields] == [
        ("minute", "H", str(value % 60)),
        ("hour", "H(1-3)", str(1 + value % 3)),
    ]
    assert analysis.illustrative


@pytest.mark.parametrize(
    "expression", ["0 0 30 2 *", "0 0 31 4 *", "0 0 1 1 * 2020", "@manual", ", * * * *", "0 0 1 1 * 2080"]
)
def test_what_never_fires_is_an_error(expression: str) -> None:
    analysis = _analyse(expression)
    assert [error.code for error in analysis.errors] == ["never_fires"]
    assert not analysis.valid
    assert analysis.description


def test_a_window_that_no_run_lies_in_never_fires() -> None:
    end = datetime(2026, 11, 30, 23, tzinfo=UTC)
    assert [error.code for error in _analyse("30 2 * * *", end_time=end).errors] == ["never_fires"]


def test_a_one_time_instant_may_be_past_or_far_ahead() -> None:
    for text in ("2025-11-30T12:00:00Z", "9999-12-31T23:59:59Z", "2026-11-30T12:00:00Z"):
        assert _analyse(text, expression_type=ExpressionType.ONE_TIME).valid


def test_a_one_time_instant_behind_the_end_of_the_calendar_is_refused() -> None:
    analysis = _analyse("9999-12-31T23:59:59", expression_type=ExpressionType.ONE_TIME, time_zone="America/Lima")
    assert [error.code for error in analysis.errors] == ["parse_error"]


def test_a_mistake_leaves_only_the_error() -> None:
    analysis = _analyse(" 0 25 * * * ")
    assert (analysis.expression, analysis.description, analysis.next_runs) == ("0 25 * * *", "", ())
    assert [(error.code, error.offset) for error in analysis.errors] == [("parse_error", 2)]


@pytest.mark.parametrize(
    ("expression", "kind", "seconds", "refused"),
    [
        ("*/5 * * * *", ExpressionType.CRON, 300, False),
        ("*/5 * * * *", ExpressionType.CRON, 301, True),
        ("0,59 0 1 1 *", ExpressionType.CRON, 3_600, True),
        ("59 23 * * *", ExpressionType.CRON, 86_400, False),
        ("0 23 * * *", ExpressionType.CRON, 86_401, True),
        ("0 0,12 * * *", ExpressionType.CRON, 43_200, False),
        ("59 23 1 * *", ExpressionType.CRON, 86_401, False),
        ("0 0 31,1 * *", ExpressionType.CRON, 86_401, True),
        ("* * * * * *", ExpressionType.CRON, 60, True),
        ("@every 30s", ExpressionType.CRON, 60, True),
        ("PT1M", ExpressionType.FIXED_RATE, 60, False),
        ("PT59S", ExpressionType.FIXED_RATE, 60, True),
        ("2027-01-01T10:30:00Z", ExpressionType.ONE_TIME, 60, False),
    ],
)
def test_an_operator_may_refuse_runs_that_are_too_close(
    expression: str, kind: ExpressionType, seconds: int, *, refused: bool
) -> None:
    question = Question(now=_NOW, min_interval=timedelta(seconds=seconds))
    errors = [error.code for error in _analyse(expression, question=question, expression_type=kind).errors]
    assert errors == (["under_min_interval"] if refused else [])


def test_both_day_fields_restricted_are_worth_a_warning_unless_either_is_enough() -> None:
    # checklist 133
    assert [code for code, _ in _warnings(_analyse("0 0 13 * FRI"))] == ["dom_and_dow"]
    assert _warnings(_analyse("0 0 13 * FRI", day_match=DayMatch.ANY)) == []


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (
            "0 0 31 * *",
            "day 31 does not exist in February, April, June, September and November; there is no run for it then",
        ),
        ("0 0 1,30 * *", "day 30 does not exist in February; there is no run for it then"),
        ("0 0 29 * *", "day 29 does not exist in February outside leap years; there is no run for it then"),
        ("0 0 29 2 *", "day 29 does not exist in February outside leap years; there is no run for it then"),
        ("0 0 31W 1,4 *", "day 31 does not exist in April; there is no run for it then"),
        ("0 0 L-30 1,4 *", "L-30 does not exist in April; there is no run for it then"),
    ],
)
def test_a_day_that_some_months_lack_is_worth_a_warning(expression: str, message: str) -> None:
    assert _warnings(_analyse(expression)) == [("dom_skips_months", message)]


@pytest.mark.parametrize(
    "expression", ["0 0 28 * *", "0 0 31 1,3 *", "0 0 1-31 * *", "0 0 */2 * *", "0 0 L-27 * *", "0 0 26-3 * *"]
)
def test_days_that_every_month_has_need_no_warning(expression: str) -> None:
    assert _warnings(_analyse(expression)) == []


def test_an_empty_list_element_is_worth_a_warning() -> None:
    analysis = _analyse("1,,2 * * * *")
    assert [(each.code, each.field, each.value) for each in analysis.warnings] == [
        ("empty_list_element", "minute", "1,,2")
    ]


_GAP = "2027-03-28 does not exist in Europe/Berlin"
_FOLD = "2027-10-31 happens twice in Europe/Berlin"


@pytest.mark.parametrize(
    ("expression", "policies", "skipped", "repeated"),
    [
        ("30 2 * * *", {}, f"02:30 on {_GAP}; it runs at 03:30", f"02:30 on {_FOLD}; it runs once, the first time"),
        (
            "30 2 * * *",
            {"on_gap": OnGap.NEXT_VALID, "on_fold": OnFold.LATER},
            f"02:30 on {_GAP}; it runs at 03:00",
            f"02:30 on {_FOLD}; it runs once, the second time",
        ),
        (
            "30 2 * * *",
            {"on_gap": OnGap.SKIP, "on_fold": OnFold.BOTH},
            f"02:30 on {_GAP}; that run is skipped",
            f"02:30 on {_FOLD}; it runs twice",
        ),
        (
            "30 2,3 * * *",
            {"on_fold": OnFold.EARLIER},
            f"02:30 on {_GAP}; it coincides with the run at 03:30",
            f"02:30 on {_FOLD}; it runs once, the first time",
        ),
        (
            "*/15 2 * * *",
            {},
            "02:00 to 02:45 on 2027-03-28 do not exist in Europe/Berlin; they run at 03:00 to 03:45",
            "02:00 to 02:45 on 2027-10-31 happen twice in Europe/Berlin; they run twice",
        ),
        (
            "*/15 2 * * *",
            {"on_gap": OnGap.NEXT_VALID, "on_fold": OnFold.EARLIER},
            "02:00 to 02:45 on 2027-03-28 do not exist in Europe/Berlin; they become one run at 03:00",
            "02:00 to 02:45 on 2027-10-31 happen twice in Europe/Berlin; they run once, the first time",
        ),
        (
            "*/15 2 * * *",
            {"on_gap": OnGap.SKIP, "on_fold": OnFold.LATER},
            "02:00 to 02:45 on 2027-03-28 do not exist in Europe/Berlin; those runs are skipped",
            "02:00 to 02:45 on 2027-10-31 happen twice in Europe/Berlin; they run once, the second time",
        ),
    ],
)
def test_clock_changes_ahead_are_named_with_date_and_outcome(
    expression: str, policies: dict[str, Any], skipped: str, repeated: str
) -> None:
    analysis = _analyse(expression, time_zone="Europe/Berlin", **policies)
    assert _warnings(analysis) == [("dst_skipped", skipped), ("dst_repeated", repeated)]


def test_runs_of_every_hour_are_expected_to_meet_clock_changes() -> None:
    assert _warnings(_analyse("30 * * * *", time_zone="Europe/Berlin")) == []
    assert _warnings(_analyse("30 4 * * *", time_zone="Europe/Berlin")) == []


def test_clock_changes_are_looked_for_up_to_the_last_listed_run() -> None:
    far = _analyse("30 2 25 3 * 2029", time_zone="Europe/Berlin")
    assert [message for code, message in _warnings(far) if code == "dst_skipped"] == [
        "02:30 on 2029-03-25 does not exist in Europe/Berlin; it runs at 03:30"
    ]


def test_a_one_time_wall_time_in_a_gap_is_worth_a_warning() -> None:
    analysis = _analyse("2027-03-28T02:30", time_zone="Europe/Berlin", expression_type=ExpressionType.ONE_TIME)
    assert _warnings(analysis) == [("dst_skipped", f"02:30 on {_GAP}; it runs at 03:30")]


def test_the_document_leaves_out_what_does_not_apply() -> None:
    assert analysis_document(_analyse("0 25 * * *")) == {
        "expression": "0 25 * * *",
        "valid": False,
        "description": "",
        "illustrative": False,
        "hashed_fields": [],
        "next_runs": [],
        "prev_runs": [],
        "errors": [
            {
                "code": "parse_error",
                "message": "hour field value 25 is out of range (valid: 0-23)",
                "field": "hour",
                "value": "25",
                "valid_range": "0-23",
                "offset": 2,
            }
        ],
        "warnings": [],
    }


def test_the_document_has_the_reference_s_members() -> None:
    document = analysis_document(_analyse("H 2 * * *", time_zone="Europe/Berlin", on_gap=OnGap.SKIP))
    assert document["location"] == "Europe/Berlin"
    assert document["hashed_fields"][0].keys() == {"field", "value", "resolved"}
    assert document["next_runs"][0].endswith("Z")
    assert {warning["code"] for warning in document["warnings"]} == {"dst_skipped", "dst_repeated"}


def test_the_expression_type_may_be_absent() -> None:
    assert read_expression_type(None) is read_expression_type("") is ExpressionType.CRON
    assert read_expression_type("one_time") is ExpressionType.ONE_TIME
    with pytest.raises(InvalidInputError) as refusal:
        read_expression_type("cron")
    assert [finding.code for finding in refusal.value.findings] == ["unknown_expression_type"]

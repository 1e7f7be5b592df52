"""`sch validate`."""

from typing import Any

import pytest

from tests.integration.cli.conftest import Sch
from tests.integration.cli.fake_api import FakeApi, collection, refusal
from tests.integration.cli.samples import CALL_GUID, JOB_GUID, SCHEDULE_GUID, call, job

VALID = {
    "expression": "H 2 * * *",
    "valid": True,
    "description": "at 02:17",
    "location": "Europe/Berlin",
    "illustrative": True,
    "hashed_fields": [{"field": "minute", "value": "H", "resolved": "17"}],
    "next_runs": ["2027-01-01T01:17:00Z", "2027-01-02T01:17:00Z"],
    "prev_runs": ["2026-12-31T01:17:00Z"],
    "errors": [],
    "warnings": [{"code": "dst_skipped", "message": "on 2027-03-28 the run is moved"}],
}
INVALID = {
    "expression": "0 25 * * *",
    "valid": False,
    "errors": [{"code": "parse_error", "message": 'hour: "25" is out of range', "value": "25", "offset": 2}],
    "warnings": [],
}
PATH = "/schedules/validate"


def test_a_valid_expression_is_explained(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", PATH, VALID)
    options = ["--next", "2", "--prev", "1", "--from", "2027-01-01T00:00:00Z", "-z", "Europe/Berlin"]
    done = sch("validate", "H 2 * * *", *options)
    assert done.code == 0
    assert api.last().json() == {
        "expression": "H 2 * * *",
        "next": 2,
        "prev": 1,
        "from": "2027-01-01T00:00:00Z",
        "time_zone": "Europe/Berlin",
    }
    assert done.out.splitlines() == [
        "Validating H 2 * * * as jane...",
        "OK",
        "",
        "expression:      H 2 * * *",
        "means:           at 02:17",
        "time zone:       Europe/Berlin",
        "H in minute:     17",
        "illustrative:    H depends on the job or call; --job or --call shows its own",
        "previous runs:   2026-12-31T01:17:00Z",
        "next runs:       2027-01-01T01:17:00Z",
        "                 2027-01-02T01:17:00Z",
    ]
    assert done.err == "Warning: on 2027-03-28 the run is moved\n"


def test_an_invalid_expression_is_a_failure_with_a_caret(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", PATH, INVALID)
    done = sch("validate", "0 25 * * *")
    assert done.code == 1
    assert done.err == 'The expression is not valid:\n\n   0 25 * * *\n     ^^\nhour: "25" is out of range\n'


def test_json_of_an_invalid_expression_is_the_analysis_and_a_failure(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", PATH, INVALID)
    done = sch("validate", "0 25 * * *", "--json")
    assert (done.code, done.json()) == (1, INVALID)


@pytest.mark.parametrize(("option", "kind", "guid"), [("--job", "job", JOB_GUID), ("--call", "call", CALL_GUID)])
def test_an_expression_is_validated_for_a_job_or_call(
    api: FakeApi, sch: Sch, option: str, kind: str, guid: str
) -> None:
    api.answer_rows("/jobs", job())
    api.answer_rows("/calls", call(name="nightly"))
    api.answer("POST", PATH, VALID)
    assert sch("validate", "H 2 * * *", option, "nightly").code == 0
    assert api.last().json() == {"expression": "H 2 * * *", "ref_type": kind, "ref_guid": guid}


@pytest.mark.parametrize(("analyses", "code"), [([VALID], 0), ([VALID, INVALID], 1), ([], 0)])
def test_the_stored_schedules_of_a_job_are_checked(
    api: FakeApi, sch: Sch, analyses: list[dict[str, Any]], code: int
) -> None:
    rows = [{**analysis, "schedule_guid": SCHEDULE_GUID, "enabled": True} for analysis in analyses]
    api.answer("POST", PATH, collection(*rows))
    done = sch("validate", "--job", JOB_GUID)
    assert done.code == code
    assert done.out.count(SCHEDULE_GUID) == len(analyses)
    assert ("1 of 2 schedules are not valid." in done.err) == (code == 1)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "Give an expression, or a job or call"),
        (("@daily", "--job", "a", "--call", "b"), "--job and --call exclude each other."),
        (("@daily", "--next", "101"), "0<=x<=100"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(
    api: FakeApi, sch: Sch, arguments: tuple[str], complaint: str
) -> None:
    done = sch("validate", *arguments)
    assert (done.code, api.asked) == (2, [])
    assert complaint in done.err


def test_a_job_that_is_gone_is_told_from_a_scheduler_that_cannot_validate(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", PATH, refusal("ref_not_found", "there is no such job"), status=404)
    api.answer("POST", PATH, b"404 page not found", status=404)
    assert "there is no such job" in sch("validate", "--job", JOB_GUID).err
    assert "Is it the URL of a scheduler?" in sch("validate", "--job", JOB_GUID).err

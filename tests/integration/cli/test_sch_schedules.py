"""`sch jobs|calls schedules` and `sch schedules`."""

from typing import Any

import pytest

from tests.integration.cli.conftest import SPACE, Sch
from tests.integration.cli.fake_api import FakeApi, refusal
from tests.integration.cli.samples import (
    CALL_GUID,
    ENDED,
    EXECUTION_GUID,
    JOB_GUID,
    SCHEDULE_GUID,
    call,
    execution,
    job,
    schedule,
)

JOB = f"/jobs/{JOB_GUID}"
SCHEDULE = f"{JOB}/schedules/{SCHEDULE_GUID}"


def test_a_schedule_is_created_with_the_arguments_of_the_reference(api: FakeApi, sch: Sch) -> None:  # checklist 301
    api.answer_rows("/jobs", job())
    api.answer("POST", f"{JOB}/schedules", schedule(), status=201)
    done = sch("jobs", "schedules", "create", "nightly", " 0 2 * * * ")
    assert done.code == 0
    assert api.last().json() == {"expression": "0 2 * * *", "expression_type": "cron_expression", "enabled": True}
    assert done.out.startswith(f"Creating a schedule for job nightly in space {SPACE} as jane...\nOK\n")
    assert done.facts()["next run"] == "2026-03-02T01:00:00Z"


def test_all_options_of_a_schedule_reach_the_api(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", f"{JOB}/schedules", schedule(), status=201)
    options = [
        "--type", "fixed_rate", "-z", "Europe/Berlin", "--day-match", "any", "--on-gap", "skip", "--on-fold", "later",
        "--misfire", "catch_up", "--misfire-grace", "0", "--misfire-max-runs", "10", "--misfire-max-age", "3600",
        "--overlap", "wait", "--start-deadline", "0", "--start-time", "2027-01-01T00:00:00Z",
        "--end-time", "2028-01-01T00:00:00Z", "--max-runs", "5", "--delete-after-run", "--metadata", "team=blue",
        "--metadata", "note=a=b", "--disabled",
    ]  # fmt: skip
    assert sch("jobs", "schedules", "create", JOB_GUID, "PT5M", *options).code == 0
    assert api.last().json() == {
        "expression": "PT5M",
        "expression_type": "fixed_rate",
        "enabled": False,
        "time_zone": "Europe/Berlin",
        "day_match": "any",
        "on_gap": "skip",
        "on_fold": "later",
        "misfire": {"policy": "catch_up", "grace_seconds": 0, "max_runs": 10, "max_age_seconds": 3600},
        "overlap": "wait",
        "start_deadline_seconds": 0,
        "start_time": "2027-01-01T00:00:00Z",
        "end_time": "2028-01-01T00:00:00Z",
        "max_runs": 5,
        "delete_after_run": True,
        "metadata": {"team": "blue", "note": "a=b"},
    }


def test_an_invalid_expression_is_shown_with_a_caret_at_its_byte_offset(api: FakeApi, sch: Sch) -> None:
    expression = "0 2 * * 月,FOO"
    body = refusal(
        "parse_error", 'day-of-week: "FOO" is not a number or name', field="day-of-week", value="FOO", offset=12
    )
    body["errors"][0]["valid_range"] = "0-7"
    body["errors"].append({"code": "parse_error", "message": "another mistake"})
    body["warnings"] = [{"code": "dst_skipped", "message": "on 2027-03-28 the clock jumps over it"}]
    api.answer("POST", f"{JOB}/schedules", body, status=422)
    done = sch("jobs", "schedules", "create", JOB_GUID, expression)
    assert done.code == 1
    assert done.err == (
        "The scheduler refused this (422 Unprocessable Entity):\n"
        "\n"
        "   0 2 * * 月,FOO\n"
        "              ^^^\n"  # twelve bytes are ten characters and eleven cells
        'day-of-week: "FOO" is not a number or name (valid range: 0-7)\n'
        "another mistake\n"
        "Warning: on 2027-03-28 the clock jumps over it\n"
    )


@pytest.mark.parametrize("offset", [None, -1, 99, "5", True])
def test_an_offset_that_points_nowhere_draws_no_caret(api: FakeApi, sch: Sch, offset: Any) -> None:
    api.answer("POST", f"{JOB}/schedules", refusal("never_fires", "it never fires", offset=offset), status=422)
    done = sch("jobs", "schedules", "create", JOB_GUID, "0 0 30 2 *")
    assert "^" not in done.err
    assert "it never fires\n" in done.err


def test_a_caret_may_stand_behind_the_last_character(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", f"{JOB}/schedules", refusal("parse_error", "too few fields", offset=7), status=422)
    done = sch("jobs", "schedules", "create", JOB_GUID, "0 2 * *")
    assert "\n   0 2 * *\n          ^\ntoo few fields\n" in done.err


@pytest.mark.parametrize("word", ["list", "all"])
def test_the_schedules_of_a_job_are_listed(api: FakeApi, sch: Sch, word: str) -> None:
    api.answer_rows(f"{JOB}/schedules", schedule(), {"guid": CALL_GUID, "enabled": False, "expression": "@daily"})
    done = sch("jobs", "schedules", word, JOB_GUID)
    assert done.out.splitlines()[2:] == [
        f"guid{' ' * 35}expression   time zone       state      next run               last run",
        f"{SCHEDULE_GUID}   0 2 * * *    Europe/Berlin   active     2026-03-02T01:00:00Z",
        f"{CALL_GUID}   @daily                       disabled",
    ]


def test_a_schedule_is_shown_with_everything_that_is_set(api: FakeApi, sch: Sch) -> None:
    api.answer(
        "GET", SCHEDULE, schedule(state="paused", paused_by="user", pause_note="\x1b[2Jstocktaking", missed_count=3)
    )
    done = sch("jobs", "schedules", "get", JOB_GUID, SCHEDULE_GUID)
    assert done.facts() == {
        "guid": SCHEDULE_GUID,
        "job": JOB_GUID,
        "expression": "0 2 * * *",
        "type": "cron_expression",
        "means": "at 02:00",
        "time zone": "Europe/Berlin",
        "state": "paused",
        "paused by": "user",
        "note": "\\x1b[2Jstocktaking",
        "next run": "2026-03-02T01:00:00Z",
        "misfire": "run_once, after 60 s of grace",
        "overlap": "allow",
        "missed": "3",
        "created": "2026-03-01T02:00:00Z",
        "changed": "2026-03-01T02:00:00Z",
    }


def test_a_schedule_is_changed_in_what_was_given_only(api: FakeApi, sch: Sch) -> None:
    api.answer("PATCH", SCHEDULE, schedule())
    arguments = ["--expression", "30 2 * * *", "--misfire-max-runs", "7", "--keep-after-run"]
    assert sch("jobs", "schedules", "update", JOB_GUID, SCHEDULE_GUID, *arguments).code == 0
    assert api.last().json() == {"expression": "30 2 * * *", "misfire": {"max_runs": 7}, "delete_after_run": False}


@pytest.mark.parametrize(
    ("words", "body"),
    [
        (["pause"], {}),
        (["pause", "--note", "x", "--until", "2027-01-01T00:00:00Z"], {"note": "x", "until": "2027-01-01T00:00:00Z"}),
        (["resume"], {}),
        (["resume", "--missed", "run_once"], {"missed": "run_once"}),
        (["revalidate"], {}),
    ],
)
def test_actions_on_a_schedule_show_what_it_is_now(api: FakeApi, sch: Sch, words: list[str], body: Any) -> None:
    action, *options = words
    api.answer("POST", f"{SCHEDULE}/actions/{action}", schedule())
    done = sch("jobs", "schedules", action, JOB_GUID, SCHEDULE_GUID, *options)
    assert done.code == 0
    assert "\nOK\n" in done.out
    assert done.facts()["state"] == "active"
    assert api.last().json() == body


def test_triggering_waits_if_wished(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", f"{SCHEDULE}/actions/trigger", execution(trigger="trigger"), status=201)
    api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(**ENDED))
    done = sch("jobs", "schedules", "trigger", JOB_GUID, SCHEDULE_GUID, "--trigger-id", "release-42", "--wait")
    assert (done.code, done.out.splitlines()[-1]) == (0, "OK")
    assert api.asked[0].json() == {"trigger_id": "release-42"}


@pytest.mark.parametrize("word", ["delete", "del"])
def test_a_schedule_is_deleted(api: FakeApi, sch: Sch, word: str) -> None:
    api.answer("DELETE", SCHEDULE, status=204)
    done = sch("jobs", "schedules", word, JOB_GUID, SCHEDULE_GUID)
    assert (done.code, done.out) == (0, f"Deleting a schedule of job {JOB_GUID} as jane...\nOK\n")


def test_the_history_of_a_schedule_is_its_own(api: FakeApi, sch: Sch) -> None:
    api.answer("GET", f"{SCHEDULE}/history", {"resources": [execution(state="SKIPPED", reason="overlap")]})
    done = sch("jobs", "schedules", "history", JOB_GUID, SCHEDULE_GUID, "--state", "skipped")
    assert done.out.splitlines()[-1].endswith("SKIPPED   manual                                 overlap")
    assert api.last().query["state"] == "SKIPPED"


@pytest.mark.parametrize("guid", ["..", "nightly", "0193a1b2-0000-7000-8000-00000000000/", ""])
def test_what_is_no_guid_never_gets_into_a_path(api: FakeApi, sch: Sch, guid: str) -> None:
    done = sch("jobs", "schedules", "delete", JOB_GUID, guid)
    assert (done.code, api.asked) == (2, [])
    assert f"{guid!r} is not a GUID" in done.err


def test_schedules_of_calls_have_the_same_commands(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/calls", call())
    api.answer_rows(f"/calls/{CALL_GUID}/schedules", schedule())
    assert sch("calls", "schedules", "list", "ping").code == 0


def test_all_schedules_of_a_space_are_listed_under_the_names_of_their_jobs_and_calls(api: FakeApi, sch: Sch) -> None:
    gone = schedule(job_guid=None, call_guid=CALL_GUID, guid=EXECUTION_GUID, ref_type="call", ref_name=None)
    api.answer_rows("/schedules", schedule(ref_type="job", ref_name="nightly"), gone)
    done = sch("schedules", "list", "--state", "active", "--enabled", "-q", "night")
    owners = [line.split()[:2] for line in done.out.splitlines()[3:]]
    assert owners == [["job", "nightly"], ["call", CALL_GUID]]
    assert api.last().query == {"space_guid": SPACE, "enabled": "true", "state": "active", "q": "night"}


def test_why_says_what_became_of_an_instant(api: FakeApi, sch: Sch) -> None:
    answer = {
        "at": "2026-03-01T02:00:00Z",
        "verdict": "not_due",
        "explanation": "The schedule is not due at this instant.",
        "execution_guid": None,
        "state": None,
        "previous_due": "2026-02-28T02:00:00Z",
        "next_due": "2026-03-02T02:00:00Z",
        "links": {"schedule": {"href": "/x"}, "execution": None},
    }
    api.answer("GET", f"{SCHEDULE}/why", answer)
    done = sch("jobs", "schedules", "why", JOB_GUID, SCHEDULE_GUID, "2026-03-01T02:00:00Z")
    assert api.last().query == {"at": "2026-03-01T02:00:00Z"}
    assert done.facts() == {
        "at": "2026-03-01T02:00:00Z",
        "verdict": "not due",
        "explanation": "The schedule is not due at this instant.",
        "due before": "2026-02-28T02:00:00Z",
        "due after": "2026-03-02T02:00:00Z",
    }


def test_a_trigger_that_the_overlap_rule_forbids_is_a_failure(api: FakeApi, sch: Sch) -> None:
    skipped = execution(state="SKIPPED", reason="overlap")
    api.answer("POST", f"{SCHEDULE}/actions/trigger", skipped, status=201)
    done = sch("jobs", "schedules", "trigger", JOB_GUID, SCHEDULE_GUID)
    assert (done.code, done.err) == (1, "The execution ended SKIPPED: overlap\n")

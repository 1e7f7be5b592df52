"""`sch jobs`: create, list, get, update, execute, delete, history."""

import json

import pytest

from tests.integration.cli.conftest import SPACE, Sch
from tests.integration.cli.fake_api import FakeApi, collection, refusal
from tests.integration.cli.samples import APP, ENDED, EXECUTION_GUID, JOB_GUID, SCHEDULE_GUID, execution, job


def test_jobs_are_listed_as_cf_lists_things(api: FakeApi, sch: Sch) -> None:  # checklist 301
    api.answer_rows("/jobs", job(), job(name="weekly", guid=SCHEDULE_GUID))
    done = sch("jobs", "list")
    assert done.out == (
        f"Getting jobs in space {SPACE} as jane...\n"
        "\n"
        "name      guid                                   app                                    command\n"
        f"nightly   {JOB_GUID}   {APP}   bin/rails cleanup\n"
        f"weekly    {SCHEDULE_GUID}   {APP}   bin/rails cleanup\n"
    )
    assert (done.code, done.err) == (0, "")
    assert api.last().query == {"space_guid": SPACE}


@pytest.mark.parametrize("words", [("list",), ("all",)])
def test_a_space_may_stand_where_the_reference_has_it(api: FakeApi, sch: Sch, words: tuple[str]) -> None:
    other = "0193a1b2-0000-7000-8000-0000000000ff"
    api.answer_rows("/jobs")
    done = sch("jobs", *words, other, env={"SCHEDULER_SPACE": None})
    assert (done.code, api.last().query) == (0, {"space_guid": other})
    assert done.out.endswith("\nNo jobs found.\n")


def test_all_pages_of_jobs_are_listed_whatever_host_their_links_name(api: FakeApi, sch: Sch) -> None:
    following = {"href": f"https://elsewhere.example.com/jobs?space_guid={SPACE}&page=2&per_page=1"}
    api.answer("GET", "/jobs", collection(job(), total_results=2, next=following))
    api.answer("GET", "/jobs", collection(job(name="weekly"), total_results=2, next=None))
    done = sch("jobs", "list")
    assert "nightly" in done.out
    assert "weekly" in done.out
    assert api.last().query == {"space_guid": SPACE, "page": "2", "per_page": "1"}


def test_json_is_exactly_what_the_api_answered(api: FakeApi, sch: Sch) -> None:
    body = b'{"pagination":{"total_pages":1},  "resources":[{"name":"n\\u00e4chtlich"}]}'
    api.answer("GET", "/jobs", body)
    done = sch("jobs", "list", "--json")
    assert (done.code, done.out, done.err) == (0, body.decode() + "\n", "")


def test_a_null_list_as_go_servers_send_it_is_an_empty_one(api: FakeApi, sch: Sch) -> None:
    api.answer("GET", "/jobs", {"resources": None})
    assert sch("jobs", "list").out.endswith("\nNo jobs found.\n")


def test_a_job_is_created_with_the_arguments_of_the_reference(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", "/jobs", job(), status=201)
    done = sch("jobs", "create", APP, "nightly", "bin/rails cleanup")
    assert done.code == 0
    assert done.out.startswith(f"Creating job nightly for app {APP} as jane...\nOK\n")
    assert f"guid:              {JOB_GUID}\n" in done.out
    assert api.last().query == {"app_guid": APP}
    assert api.last().json() == {"name": "nightly", "command": "bin/rails cleanup"}


def test_a_job_is_created_with_options_in_the_words_of_cf(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", "/jobs", job(), status=201)
    options = ["-m", "1G", "-k", "256M", "-l", "64K", "--pass-context"]
    done = sch("jobs", "create", "nightly", "--app", APP, "--command", "run", *options)
    assert done.code == 0
    assert api.last().json() == {
        "name": "nightly",
        "command": "run",
        "memory_in_mb": 1024,
        "disk_in_mb": 256,
        "log_rate_in_bps": 65536,
        "pass_context": True,
    }


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("create", APP, "nightly"), "Missing argument 'COMMAND'."),
        (("create", APP, "nightly", "run", "away"), "Got unexpected extra arguments (away)"),
        (("create", APP, "nightly", "run", "-m", "lots"), "'lots' is not a size such as 512M or 1G"),
        (("update", "nightly"), "Nothing to change is given."),
    ],
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(
    api: FakeApi, sch: Sch, arguments: tuple[str], complaint: str
) -> None:
    done = sch("jobs", *arguments)
    assert done.code == 2
    assert complaint in done.err
    assert api.asked == []


def test_a_job_is_found_by_its_name(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job(name="other", guid=SCHEDULE_GUID), job())
    api.answer("GET", f"/jobs/{JOB_GUID}", job())
    done = sch("jobs", "get", "nightly")
    assert done.out == (
        f"Getting job nightly in space {SPACE} as jane...\n"
        "\n"
        f"guid:              {JOB_GUID}\n"
        "name:              nightly\n"
        "command:           bin/rails cleanup\n"
        "disk in mb:        1024\n"
        "memory in mb:      512\n"
        "log rate in bps:   0\n"
        "state:             PENDING\n"
        f"app:               {APP}\n"
        f"space:             {SPACE}\n"
        "created:           2026-03-01T02:00:00Z\n"
        "changed:           2026-03-01T02:00:00Z\n"
    )


def test_a_guid_needs_no_space_and_no_list(api: FakeApi, sch: Sch) -> None:
    api.answer("GET", f"/jobs/{JOB_GUID}", job())
    done = sch("jobs", "get", JOB_GUID, env={"SCHEDULER_SPACE": None})
    assert done.code == 0
    assert done.out.startswith(f"Getting job {JOB_GUID} as jane...\n")
    assert [asked.path for asked in api.asked] == [f"/jobs/{JOB_GUID}"]


def test_a_name_that_nothing_has_is_said_to_be_missing(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job())
    done = sch("jobs", "get", "daily")
    assert (done.code, done.err) == (1, f"Job 'daily' not found in space {SPACE}.\n")
    assert done.out == "FAILED\n"


def test_a_name_that_several_have_is_answered_with_their_guids(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job(), job(guid=SCHEDULE_GUID, app_guid=EXECUTION_GUID))
    done = sch("jobs", "delete", "nightly")
    assert done.code == 1
    assert f"Several jobs in space {SPACE} are named 'nightly'. Use the GUID:" in done.err
    assert f"   {JOB_GUID}   {APP}\n   {SCHEDULE_GUID}   {EXECUTION_GUID}\n" in done.err
    assert [asked.method for asked in api.asked] == ["GET"]


def test_a_job_is_changed_in_what_was_given_only(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job())
    api.answer("PATCH", f"/jobs/{JOB_GUID}", job(command="new"))
    done = sch("jobs", "update", "nightly", "--command", "new", "--no-pass-context")
    assert done.code == 0
    assert api.last().json() == {"command": "new", "pass_context": False}
    assert "\nOK\n" in done.out


def test_executing_a_job_shows_the_execution(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job())
    api.answer("POST", f"/jobs/{JOB_GUID}/execute", execution(), status=201)
    done = sch("jobs", "execute", "nightly", "--idempotency-key", "release-42")
    assert done.code == 0
    assert done.out == (
        f"Executing job nightly in space {SPACE} as jane...\n"
        "OK\n"
        "\n"
        f"guid:      {EXECUTION_GUID}\n"
        f"job:       {JOB_GUID}\n"
        "state:     PENDING\n"
        "trigger:   manual\n"
    )
    assert api.last().headers["Idempotency-Key"] == "release-42"


def test_executing_and_waiting_ends_with_the_execution(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", f"/jobs/{JOB_GUID}/execute", execution(), status=201)
    for state in ({"state": "RUNNING"}, ENDED):
        api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(**state))
    done = sch("jobs", "execute", JOB_GUID, "--wait")
    assert done.code == 0
    assert "\nRUNNING\n" in done.out
    assert "\ntook:      4.2 s\n" in done.out
    assert done.out.endswith("\nOK\n")


def test_waiting_for_an_execution_that_fails_is_a_failure_with_its_reason(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", f"/jobs/{JOB_GUID}/execute", execution(), status=201)
    failed = execution(state="FAILED", reason="task_failed", message="Exited with status 1")
    api.answer("GET", f"/executions/{EXECUTION_GUID}", failed)
    done = sch("jobs", "execute", JOB_GUID, "--wait")
    assert done.code == 1
    assert done.err == "The execution ended FAILED: Exited with status 1\n"
    assert done.out.endswith("\nFAILED\n")


def test_json_of_a_wait_is_the_ended_execution_alone(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", f"/jobs/{JOB_GUID}/execute", execution(), status=201)
    api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(state="RUNNING"))
    api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(**ENDED))
    done = sch("jobs", "execute", JOB_GUID, "--wait", "--json")
    assert (done.code, done.json()["state"]) == (0, "SUCCEEDED")
    assert done.err == "RUNNING\n"


def test_a_wait_can_be_limited(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", f"/jobs/{JOB_GUID}/execute", execution(), status=201)
    api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(state="RUNNING"))
    done = sch("jobs", "execute", JOB_GUID, "--wait", "--timeout", "0")
    assert done.code == 1
    assert f"has not ended within 0 ms. Look again with: sch executions watch {EXECUTION_GUID}" in done.err


@pytest.mark.parametrize("word", ["delete", "del"])
def test_a_job_is_deleted_without_a_question_where_nobody_could_answer(api: FakeApi, sch: Sch, word: str) -> None:
    api.answer_rows("/jobs", job())
    api.answer("DELETE", f"/jobs/{JOB_GUID}", status=204)
    done = sch("jobs", word, "nightly")
    assert (done.code, done.out) == (0, f"Deleting job nightly in space {SPACE} as jane...\nOK\n")
    assert api.last().method == "DELETE"


def test_deleting_prints_no_json_because_the_api_has_none(api: FakeApi, sch: Sch) -> None:
    api.answer("DELETE", f"/jobs/{JOB_GUID}", status=204)
    done = sch("jobs", "delete", JOB_GUID, "--json")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_history_is_a_page_with_filters(api: FakeApi, sch: Sch) -> None:
    rows = [execution(**ENDED, trigger="schedule", scheduled_time="2026-03-01T02:00:00Z", message="all\nwell")]
    api.answer("GET", f"/jobs/{JOB_GUID}/history", collection(*rows, total_results=70))
    filters = ["--state", "SUCCEEDED", "--trigger", "schedule", "--since", "2026-03-01T00:00:00Z", "-n", "1"]
    done = sch("jobs", "history", JOB_GUID, *filters)
    assert done.out == (
        f"Getting the history of job {JOB_GUID} as jane...\n"
        "\n"
        "guid                                   state       trigger    scheduled              started             "
        "   took    message\n"
        f"{EXECUTION_GUID}   SUCCEEDED   schedule   2026-03-01T02:00:00Z   2026-03-01T02:00:00Z   4.2 s   all\\nwell\n"
        "\n"
        "1 of 70 are shown; --page and --limit show others.\n"
    )
    assert api.last().query == {
        "state": "SUCCEEDED",
        "trigger": "schedule",
        "since": "2026-03-01T00:00:00Z",
        "page": "1",
        "per_page": "1",
    }


def test_a_history_too_long_to_be_counted_says_that_there_is_more(api: FakeApi, sch: Sch) -> None:
    following = {"href": f"{api.url}/jobs/{JOB_GUID}/history?before=x&page=2&per_page=50"}
    page = collection(execution(), total_results=None, total_pages=None, last=None, next=following)
    api.answer("GET", f"/jobs/{JOB_GUID}/history", page)
    assert sch("jobs", "history", JOB_GUID).out.endswith("\n\nThere are more; --page and --limit show them.\n")


def test_a_scheduler_that_knows_no_pages_is_cut_to_the_limit(api: FakeApi, sch: Sch) -> None:
    zero = "0001-01-01T00:00:00Z"
    rows = [{"guid": EXECUTION_GUID, "state": "PENDING", "scheduled_time": zero, "execution_start_time": zero}] * 3
    api.answer_rows(f"/jobs/{JOB_GUID}/history", *rows)
    done = sch("jobs", "history", JOB_GUID, "-n", "2")
    assert done.out.count(EXECUTION_GUID) == 2
    assert "0001-01-01" not in done.out
    assert "2 of 3 are shown" in done.out


def test_a_refusal_lists_every_mistake_and_warning(api: FakeApi, sch: Sch) -> None:
    body = refusal("missing_field", "name is missing", field="name")
    body["errors"].append({"code": "invalid_field", "message": "command must not be blank", "field": "command"})
    body["warnings"] = [{"code": "odd", "message": "this is odd"}]
    api.answer("POST", "/jobs", body, status=422)
    done = sch("jobs", "create", APP, "", "")
    assert done.code == 1
    assert done.err == (
        "The scheduler refused this (422 Unprocessable Entity):\n"
        "name is missing\n"
        "command must not be blank\n"
        "Warning: this is odd\n"
    )
    assert done.out.endswith("\nFAILED\n")


def test_json_of_a_refusal_is_the_scheduler_s_own(api: FakeApi, sch: Sch) -> None:
    body = refusal("missing_field", "name is missing", field="name")
    api.answer("POST", "/jobs", body, status=422)
    done = sch("jobs", "create", APP, "", "", "--json")
    assert (done.code, json.loads(done.out)) == (1, body)
    assert "name is missing" in done.err

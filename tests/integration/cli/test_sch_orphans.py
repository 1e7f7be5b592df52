"""`sch orphans`."""

from typing import Any

import pytest

from tests.integration.cli.conftest import SPACE, Sch
from tests.integration.cli.fake_api import FakeApi, refusal
from tests.integration.cli.samples import APP, CALL_GUID, EXECUTION_GUID, JOB_GUID, SCHEDULE_GUID

WORK = {"guid": JOB_GUID, "type": "job", "name": "nightly", "app_guid": APP, "space_guid": SPACE}
ORPHANS = {
    "resources": [{**WORK, "schedules": [{"enabled": True}, {"enabled": False}, {"enabled": True}]}],
    "orphan_schedules": [
        {
            "guid": SCHEDULE_GUID,
            "enabled": True,
            "expression": "30 4 * * *",
            "expression_type": "cron_expression",
            "ref_type": "call",
            "ref_guid": CALL_GUID,
        }
    ],
}


def test_orphans_are_listed_one_a_line_and_their_schedules_below(api: FakeApi, sch: Sch) -> None:  # checklist 292, 293
    api.answer("GET", "/orphans", ORPHANS)
    done = sch("orphans", "list")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "Getting orphans as jane..."
    assert lines[2].split("   ")[0] == "type"
    assert lines[3].split() == ["job", "nightly", JOB_GUID, APP, SPACE, "2"]
    assert lines[5].split() == ["schedule", "of", "guid", "expression", "enabled"]
    assert lines[6].split() == [SCHEDULE_GUID, "call", CALL_GUID, "30", "4", "*", "*", "*", "true"]


@pytest.mark.parametrize("answer", [{"resources": []}, {"resources": None, "orphan_schedules": None}])
def test_a_scheduler_without_orphan_schedules_breaks_nothing(
    api: FakeApi, sch: Sch, answer: dict[str, Any]
) -> None:  # checklist 300
    api.answer("GET", "/orphans", answer)
    done = sch("orphans", "list")
    assert done.out.splitlines()[1:] == ["", "No orphaned jobs or calls found.", "", "No orphaned schedules found."]


def test_schedules_that_are_null_count_as_none(api: FakeApi, sch: Sch) -> None:
    api.answer("GET", "/orphans", {"resources": [{**WORK, "schedules": None}]})
    assert sch("orphans", "list").out.splitlines()[3].endswith("   0")


@pytest.mark.parametrize("word", ["del", "delete"])
def test_each_result_is_printed_and_all_deleted_is_success(
    api: FakeApi, sch: Sch, word: str
) -> None:  # checklist 294, 295
    results = [
        {"guid": JOB_GUID, "type": "job", "result": "deleted"},
        {"guid": CALL_GUID, "type": "call", "result": "deleted", "message": "one schedule is left"},
    ]
    api.answer("POST", "/orphans/delete", {"results": results})
    done = sch("orphans", word, JOB_GUID, CALL_GUID, JOB_GUID)
    assert done.code == 0
    assert api.last().json() == {"guids": [JOB_GUID, CALL_GUID, JOB_GUID]}
    assert done.out.splitlines()[2:] == [
        "guid                                   type   result    message",
        f"{JOB_GUID}   job    deleted",
        f"{CALL_GUID}   call   deleted   one schedule is left",
        "",
        "OK",
    ]


@pytest.mark.parametrize("result", ["app_exists", "parent_exists", "not_found", "failed"])
def test_anything_that_was_not_deleted_is_a_failure(api: FakeApi, sch: Sch, result: str) -> None:  # checklist 295
    results = [{"guid": JOB_GUID, "type": "job", "result": "deleted"}, {"guid": EXECUTION_GUID, "result": result}]
    api.answer("POST", "/orphans/delete", {"results": results})
    done = sch("orphans", "del", JOB_GUID, EXECUTION_GUID)
    assert (done.code, done.err) == (1, "1 of 2 were not deleted.\n")
    assert result in done.out


def test_json_keeps_the_exit_code(api: FakeApi, sch: Sch) -> None:
    answer = {"results": [{"guid": JOB_GUID, "result": "failed"}]}
    api.answer("POST", "/orphans/delete", answer)
    done = sch("orphans", "del", JOB_GUID, "--json")
    assert (done.code, done.json()) == (1, answer)


ROUTES = [("GET", "/orphans", ("list",)), ("POST", "/orphans/delete", ("del", JOB_GUID))]


@pytest.mark.parametrize(("method", "path", "words"), ROUTES)
def test_a_rejected_token_must_be_an_admin_s(
    api: FakeApi, sch: Sch, method: str, path: str, words: tuple[str]
) -> None:  # checklist 296
    api.answer(method, path, b'""', status=401)
    done = sch("orphans", *words)
    assert done.code == 1
    assert "rejected the token (401 Unauthorized)" in done.err
    assert "Refresh SCHEDULER_TOKEN with cf oauth-token as an admin user" in done.err


@pytest.mark.parametrize(("method", "path", "words"), ROUTES)
def test_a_user_who_is_no_admin_is_told_so(
    api: FakeApi, sch: Sch, method: str, path: str, words: tuple[str]
) -> None:  # checklist 297
    api.answer(method, path, status=403)
    done = sch("orphans", *words)
    assert done.code == 1
    assert done.err == "The scheduler refused this (403 Forbidden): the token's user isn't an admin.\n"


def test_a_scheduler_that_may_not_read_every_app_says_so_itself(api: FakeApi, sch: Sch) -> None:
    body = refusal("missing_scope", "the client needs cloud_controller.admin, …admin_read_only or …global_auditor")
    api.answer("GET", "/orphans", body, status=500)
    assert "the client needs cloud_controller.admin" in sch("orphans", "list").err

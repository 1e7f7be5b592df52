"""Jobs: what is stored, what is shown, what is refused."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from scheduler.domain.jobs import MAX_COMMAND_CHARACTERS
from scheduler_local.testing import MadeApp, StandInController
from tests.fixtures.api import Api, codes_of, content_of, fields_of, resources_of

_FIELDS = {
    "guid", "name", "command", "disk_in_mb", "memory_in_mb", "log_rate_in_bps", "state", "created_at", "updated_at",
    "app_guid", "space_guid",
}  # fmt: skip


def test_a_new_job_is_answered_with_all_its_fields(api: Api, app: MadeApp) -> None:
    # checklist 98, 99, 100, 101, 102, 105
    body = {"name": "nightly", "command": "rake db:migrate"}
    job = content_of(api.post(f"/jobs?app_guid={app.guid}", body), 201)
    assert set(job) >= _FIELDS
    assert UUID(job["guid"])
    assert (job["name"], job["command"]) == ("nightly", "rake db:migrate")
    assert (job["disk_in_mb"], job["memory_in_mb"], job["log_rate_in_bps"]) == (1024, 1024, 0)
    assert job["state"] == "PENDING"
    assert (job["app_guid"], job["space_guid"]) == (app.guid, app.space_guid)
    assert job["created_at"] == job["updated_at"]
    assert job["created_at"].endswith("Z")


@pytest.mark.parametrize("nothing", [0, None])
def test_no_size_means_the_default_size(api: Api, app: MadeApp, nothing: int | None) -> None:
    # checklist 101
    job = api.create_job(app.guid, disk_in_mb=nothing, memory_in_mb=nothing, log_rate_in_bps=nothing)
    assert (job["disk_in_mb"], job["memory_in_mb"], job["log_rate_in_bps"]) == (1024, 1024, 0)


def test_sizes_are_stored_as_sent(api: Api, app: MadeApp) -> None:
    # checklist 100
    job = api.create_job(app.guid, disk_in_mb=1000, memory_in_mb=64, log_rate_in_bps=-1)
    assert (job["disk_in_mb"], job["memory_in_mb"], job["log_rate_in_bps"]) == (1000, 64, -1)


def test_what_only_the_scheduler_may_set_is_ignored(api: Api, app: MadeApp) -> None:
    # checklist 103, 104
    zero = "0001-01-01T00:00:00Z"
    sent = {"guid": "", "state": "", "created_at": zero, "updated_at": zero, "app_guid": "", "space_guid": ""}
    answer = api.post(f"/jobs?app_guid={app.guid}", {"name": "n", "command": "c", "colour": "blue", **sent})
    job = content_of(answer, 201)
    assert UUID(job["guid"])
    assert job["created_at"] > zero
    assert (job["app_guid"], job["space_guid"], job["state"]) == (app.guid, app.space_guid, "PENDING")
    assert "colour" not in job


@pytest.mark.parametrize(
    ("wrong", "field", "code"),
    [
        ({"name": ""}, "name", "invalid_field"),
        ({"name": "  "}, "name", "invalid_field"),
        ({"name": None}, "name", "invalid_field"),
        ({"command": ""}, "command", "invalid_field"),
        ({"command": " \n "}, "command", "invalid_field"),
        ({"command": "x" * (MAX_COMMAND_CHARACTERS + 1)}, "command", "invalid_field"),
        ({"command": "x" * MAX_COMMAND_CHARACTERS, "pass_context": True}, "command", "invalid_field"),
        ({"disk_in_mb": -1}, "disk_in_mb", "invalid_field"),
        ({"memory_in_mb": 10**30}, "memory_in_mb", "invalid_field"),
        ({"log_rate_in_bps": -2}, "log_rate_in_bps", "invalid_field"),
    ],
)
def test_a_bad_field_is_named(api: Api, app: MadeApp, wrong: dict[str, Any], field: str, code: str) -> None:
    # checklist 106
    answer = api.post(f"/jobs?app_guid={app.guid}", {"name": "n", "command": "c", **wrong})
    assert answer.status_code == 422
    assert fields_of(answer) == [field]
    assert codes_of(answer) == [code]
    assert resources_of(api.get(f"/jobs?space_guid={app.space_guid}")) == []


def test_every_missing_field_is_named_at_once(api: Api, app: MadeApp) -> None:
    # checklist 106
    answer = api.post(f"/jobs?app_guid={app.guid}", {})
    assert answer.status_code == 422
    assert sorted(filter(None, fields_of(answer))) == ["command", "name"]
    assert set(codes_of(answer)) == {"missing_field"}


@pytest.mark.parametrize("query", ["", "?app_guid=", "?app_guid=a%00b", "?app_guid=../apps", f"?app_guid={'a' * 300}"])
def test_an_app_must_be_named(api: Api, query: str) -> None:
    # checklist 106
    answer = api.post(f"/jobs{query}", {"name": "n", "command": "c"})
    assert answer.status_code == 422
    assert fields_of(answer) == ["app_guid"]


@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b"[]", b'"text"', b"null", b"\xff\xfe", b'{"name":NaN}'])
def test_a_body_that_is_no_json_object_is_refused(api: Api, app: MadeApp, body: bytes) -> None:
    # checklist 107
    answer = api.post(f"/jobs?app_guid={app.guid}", data=body)
    assert answer.status_code == 422
    assert codes_of(answer) == ["bad_request"]


def test_an_app_that_cloud_controller_does_not_know_is_refused(api: Api) -> None:
    # checklist 108
    answer = api.post(f"/jobs?app_guid={uuid4()}", {"name": "n", "command": "c"})
    assert answer.status_code == 422
    assert (codes_of(answer), fields_of(answer)) == (["app_not_found"], ["app_guid"])


@pytest.mark.parametrize("kind", ["unavailable", "router_404", "unknown_route"])
def test_an_app_that_cannot_be_asked_about_is_denied(api: Api, app: MadeApp, cc: StandInController, kind: str) -> None:
    # checklist 79, 108
    cc.fault(kind, path="/v3/apps/")
    assert api.post(f"/jobs?app_guid={app.guid}", {"name": "n", "command": "c"}).status_code == 403


def test_names_are_unique_among_an_apps_jobs_and_nowhere_else(api: Api, app: MadeApp, cc: StandInController) -> None:
    # checklist 109
    api.create_job(app.guid, name="same")
    answer = api.post(f"/jobs?app_guid={app.guid}", {"name": "same", "command": "c"})
    assert answer.status_code == 422
    assert (codes_of(answer), fields_of(answer)) == (["name_taken"], ["name"])
    api.create_job(cc.add_app().guid, name="same")
    api.create_call(app.guid, name="same")


def test_a_job_is_shown_as_it_was_answered(api: Api, app: MadeApp) -> None:
    # checklist 118
    job = api.create_job(app.guid)
    answer = api.get(f"/jobs/{job['guid']}")
    assert (answer.status_code, answer.json) == (200, job)
    assert api.get(f"/jobs/{uuid4()}").status_code == 404


def test_a_change_touches_what_it_names_and_nothing_else(api: Api, app: MadeApp) -> None:
    job = api.create_job(app.guid, name="before", memory_in_mb=64, disk_in_mb=64)
    answer = api.patch(f"/jobs/{job['guid']}", {"name": "after", "memory_in_mb": None, "guid": "", "state": "x"})
    changed = content_of(answer)
    assert changed["updated_at"] > job["updated_at"]
    assert changed == {**job, "name": "after", "memory_in_mb": 1024, "updated_at": changed["updated_at"]}
    assert api.get(f"/jobs/{job['guid']}").json == changed


def test_a_change_may_be_refused_like_a_creation(api: Api, app: MadeApp) -> None:
    api.create_job(app.guid, name="taken")
    job = api.create_job(app.guid, command="x" * MAX_COMMAND_CHARACTERS)
    path = f"/jobs/{job['guid']}"
    assert codes_of(api.patch(path, {"name": "taken"})) == ["name_taken"]
    assert fields_of(api.patch(path, {"name": None})) == ["name"]
    assert fields_of(api.patch(path, {"pass_context": True})) == ["command"]
    assert api.get(path).json == job
    assert api.patch(f"/jobs/{uuid4()}", {"name": "x"}).status_code == 404

"""Executions: run by hand, looked at, cancelled."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, text

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, codes_of, content_of, fields_of, resources_of
from tests.fixtures.rings import Rings

_FIELDS = {
    "guid", "scheduled_time", "message", "state", "execution_start_time", "execution_end_time",
}  # fmt: skip


def test_a_job_is_run_with_an_empty_body(api: Api, app: MadeApp, rings: Rings) -> None:
    # checklist 120, 121, 122, 123
    job = api.create_job(app.guid)
    execution = content_of(api.post(f"/jobs/{job['guid']}/execute", data=b""), 201)
    assert set(execution) >= {*_FIELDS, "job_guid", "task_guid"}
    assert not {"schedule_guid", "call_guid"} & set(execution)
    assert (execution["job_guid"], execution["state"], execution["trigger"]) == (job["guid"], "PENDING", "manual")
    for name in ("scheduled_time", "execution_start_time", "execution_end_time"):
        assert execution[name] is None
    assert resources_of(api.get(f"/jobs/{job['guid']}/history")) == [execution]
    assert rings.heard("scheduler_relay")


def test_a_call_is_run(api: Api, app: MadeApp) -> None:
    # checklist 121, 122
    call = api.create_call(app.guid)
    execution = content_of(api.post(f"/calls/{call['guid']}/execute", data=b'{"whatever": [1'), 201)
    assert set(execution) >= {*_FIELDS, "call_guid"}
    assert not {"schedule_guid", "job_guid", "task_guid"} & set(execution)


def test_a_run_is_started_within_a_day_or_never(api: Api, app: MadeApp, engine: Engine) -> None:
    execution = _execute(api, api.create_job(app.guid))
    with engine.connect() as connection:
        query = text("SELECT extract(epoch FROM start_by - created_at) FROM executions WHERE guid = :guid")
        assert connection.execute(query, {"guid": execution["guid"]}).scalar_one() == 86_400


def test_the_same_key_gives_the_same_execution(api: Api, app: MadeApp) -> None:
    job, other = api.create_job(app.guid), api.create_job(app.guid, name="other")
    path, key = f"/jobs/{job['guid']}/execute", {"Idempotency-Key": "release-42"}
    first = content_of(api.post(path, headers=key), 201)
    assert content_of(api.post(path, headers=key), 200) == first
    assert content_of(api.post(path, headers={"Idempotency-Key": "release-43"}), 201) != first
    assert content_of(api.post(path), 201) != first
    assert content_of(api.post(f"/jobs/{other['guid']}/execute", headers=key), 201) != first
    assert len(resources_of(api.get(f"/jobs/{job['guid']}/history"))) == 3


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 256])
def test_a_key_that_is_none_is_refused(api: Api, app: MadeApp, key: str) -> None:
    answer = api.post(f"/jobs/{api.create_job(app.guid)['guid']}/execute", headers={"Idempotency-Key": key})
    assert answer.status_code == 422
    assert fields_of(answer) == ["Idempotency-Key"]


def test_one_execution_is_shown_with_all_that_is_known_in_words(api: Api, app: MadeApp, engine: Engine) -> None:
    execution = _execute(api, api.create_job(app.guid))
    whole = content_of(api.get(f"/executions/{execution['guid']}"))
    assert {name: whole[name] for name in execution} == execution
    assert whole["explanation"] == "It was started by hand. It waits to be started."
    assert whole["space_guid"] == app.space_guid
    _set(engine, execution, state="FAILED", reason="never_started", message="the task never started")
    whole = content_of(api.get(f"/executions/{execution['guid']}"))
    assert (whole["reason"], whole["message"]) == ("never_started", "the task never started")
    assert "15 minutes" in whole["explanation"]


@pytest.mark.parametrize(
    "path", ["/executions/01a22d75-0000-7000-8000-000000000000", "/executions/x", "/executions/", "/executions/%00"]
)
def test_an_unknown_execution_is_none(api: Api, path: str) -> None:
    assert api.get(path).status_code == 404


def test_cancelling_keeps_a_pending_execution_from_being_started(api: Api, app: MadeApp) -> None:
    execution = _execute(api, api.create_job(app.guid))
    cancelled = _cancel(api, execution)
    assert (cancelled["state"], cancelled["reason"]) == ("FAILED", "cancelled")
    assert cancelled["execution_end_time"] is not None
    assert cancelled["message"] == "cancelled before it was started"
    again = api.post(f"/executions/{execution['guid']}/actions/cancel")
    assert again.status_code == 422
    assert codes_of(again) == ["already_ended"]


def test_cancelling_a_running_task_is_left_to_its_follower_who_looks_at_once(
    api: Api, app: MadeApp, engine: Engine
) -> None:
    execution = _execute(api, api.create_job(app.guid))
    _set(engine, execution, state="RUNNING", task_guid="task")
    with engine.begin() as connection:
        connection.execute(text("UPDATE executions SET next_poll_at = now() + interval '1 hour'"))
    cancelled = _cancel(api, execution)
    assert (cancelled["state"], cancelled["reason"]) == ("RUNNING", None)
    assert cancelled["cancel_requested_at"] is not None
    with engine.connect() as connection:
        assert connection.execute(text("SELECT next_poll_at <= now() FROM executions")).scalar_one()
    assert _cancel(api, execution)["cancel_requested_at"] == cancelled["cancel_requested_at"]


def test_a_run_that_may_have_a_task_is_ended_by_nobody_but_a_runner(api: Api, app: MadeApp, engine: Engine) -> None:
    execution = _execute(api, api.create_job(app.guid))
    _set(engine, execution, look_up_first=True)
    cancelled = _cancel(api, execution)
    assert cancelled["state"] == "PENDING"
    assert cancelled["cancel_requested_at"] is not None


def _execute(api: Api, job: dict[str, Any]) -> dict[str, Any]:
    execution = content_of(api.post(f"/jobs/{job['guid']}/execute"), 201)
    assert UUID(execution["guid"])
    return execution


def _cancel(api: Api, execution: dict[str, Any]) -> dict[str, Any]:
    return content_of(api.post(f"/executions/{execution['guid']}/actions/cancel"))


def _set(engine: Engine, execution: dict[str, Any], **values: Any) -> None:
    changes = ", ".join(f"{name} = :{name}" for name in values)
    with engine.begin() as connection:
        connection.execute(
            text(f"UPDATE executions SET {changes} WHERE guid = :guid"), {**values, "guid": execution["guid"]}
        )

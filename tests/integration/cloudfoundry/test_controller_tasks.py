"""The Cloud Controller client and tasks: created, refused, put off, in doubt, found again, cancelled."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import requests

from scheduler.cloudfoundry.controller import TASKS_PER_REQUEST, Controller
from scheduler.cloudfoundry.errors import (
    CannotTellError,
    DoubtError,
    NotFoundError,
    RefusedError,
    WaitError,
)
from scheduler.cloudfoundry.resources import EXECUTION_LABEL, NewTask, TaskState
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler_local import seed
from scheduler_local.testing import (
    RUNNING_FOR_EVER,
    SUCCEEDED,
    MadeApp,
    StandInController,
    StandInUaa,
    failed,
    wait_until,
)

UNKNOWN = "6f5b3a3e-2b8e-4c8f-a8a2-0e6f4f1f6c11"
TASK = NewTask(command="true", name="nightly", memory_in_mb=64, disk_in_mb=32, labels={EXECUTION_LABEL: "e-1"})
DEVELOPER = seed.user_guid(seed.DEVELOPER)
DEV_SPACE = seed.guid_of("space", seed.SPACE)


def test_a_task_is_created_as_asked_and_runs(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    wish = replace(TASK, command="echo hello from $MEMORY_LIMIT; exit 3", annotations={"a": "b"})
    task = controller.create_task(app.guid, wish)
    assert (task.state, task.app_guid, task.name) == (TaskState.RUNNING, app.guid, "nightly")
    ended = wait_until(lambda: _ended(controller, task.guid))
    assert (ended.state, ended.failure_reason) == (TaskState.FAILED, "Exited with status 3")
    (made,) = cc.tasks()
    assert (made["memory_in_mb"], made["disk_in_mb"]) == (64, 32)
    assert made["labels"] == {EXECUTION_LABEL: "e-1"}
    assert made["annotations"] == {"a": "b"}
    assert "[APP/TASK/nightly/0] OUT hello from 64m" in cc.output()


def test_a_log_rate_is_sent_only_when_it_is_set(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    controller.create_task(app.guid, TASK)
    controller.create_task(app.guid, replace(TASK, log_rate_in_bps=500))
    first, second = cc.tasks()
    assert (first["log_rate"], second["log_rate"]) == (1_048_576, 500)  # checklist 151


def test_any_success_status_with_a_task_is_a_success(
    controller: Controller, cc: StandInController, uaa: StandInUaa, app: MadeApp
) -> None:
    task = controller.create_task(app.guid, TASK)
    body = _body(cc, uaa, f"/v3/tasks/{task.guid}")
    cc.fault("status", status=201, content_type="application/json", body=body, method="POST")
    assert controller.create_task(app.guid, TASK).guid == task.guid  # checklist 152


@pytest.mark.parametrize(
    ("break_it", "status", "code", "words"),
    [
        (lambda cc, app: cc.remove_app(app.guid), 404, 10010, "App not found"),  # checklist 157
        (lambda cc, app: cc.add_app(guid=app.guid, has_droplet=False), 422, 10008, "Task must have a droplet"),
        (lambda cc, _app: cc.limit(maximum_disk_in_mb=1), 422, 10008, "Cannot request disk_in_mb greater than 1"),
        (lambda cc, _app: cc.fault("forbidden", method="POST"), 403, 10003, "You are not authorized"),
        (lambda cc, _app: cc.fault("server_error", method="POST"), 500, 10001, "An unknown error occurred"),
    ],
)
def test_a_refused_task_ends_with_cloud_controllers_own_words(
    controller: Controller,
    cc: StandInController,
    app: MadeApp,
    break_it: Callable[[StandInController, MadeApp], Any],
    status: int,
    code: int,
    words: str,
) -> None:
    break_it(cc, app)
    with pytest.raises(RefusedError, match=words) as raised:
        controller.create_task(app.guid, TASK)
    assert (raised.value.status, raised.value.code) == (status, code)


@pytest.mark.parametrize(
    ("kind", "retry_after"),
    [("rate_limited", "7"), ("rate_limited", None), ("unavailable", "7"), ("router_503", None), ("router_404", None)],
)
def test_a_task_that_was_certainly_not_started_may_be_asked_for_again_later(
    controller: Controller, cc: StandInController, app: MadeApp, kind: str, retry_after: str | None
) -> None:
    cc.fault(kind, method="POST", retry_after=retry_after)
    with pytest.raises(WaitError) as raised:
        controller.create_task(app.guid, TASK)
    assert raised.value.retry_after == (None if retry_after is None else float(retry_after))
    assert len(cc.requests(method="POST")) == 1  # never repeated by itself


def test_retry_after_may_be_a_date(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    cc.fault("unavailable", method="POST", retry_after="Wed, 21 Oct 2099 07:28:00 GMT")
    with pytest.raises(WaitError) as raised:
        controller.create_task(app.guid, TASK)
    assert raised.value.retry_after is not None
    assert raised.value.retry_after > 86_400


def test_the_record_of_a_task_that_diego_never_got_is_no_task(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    cc.limit(is_diego_down=True)
    with pytest.raises(WaitError, match="Task workers are unavailable"):
        controller.create_task(app.guid, TASK)
    assert [task["state"] for task in cc.tasks()] == ["FAILED"]
    assert controller.find_tasks(app.guid, "e-1") == []
    assert controller.find_tasks(None, "e-1") == []


@pytest.mark.parametrize("limit", ["app_task_limit", "memory_in_mb"])
def test_a_quota_that_other_tasks_use_up_is_waited_for(
    controller: Controller, cc: StandInController, app: MadeApp, limit: str
) -> None:
    cc.limit(**{limit: 0})
    with pytest.raises(WaitError, match="quota"):
        controller.create_task(app.guid, TASK)


def test_a_quota_for_a_single_instance_never_passes(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    detail = "memory_in_mb exceeds space instance memory quota"
    body = json.dumps({"errors": [{"code": 10008, "title": "CF-UnprocessableEntity", "detail": detail}]})
    cc.fault("status", status=422, content_type="application/json", body=body, method="POST")
    with pytest.raises(RefusedError, match="instance memory"):
        controller.create_task(app.guid, TASK)


def test_no_connection_means_that_no_task_was_started(cloud_foundry: CloudFoundrySettings, app: MadeApp) -> None:
    controller = Controller(replace(cloud_foundry, cf_endpoint="http://127.0.0.1:9"))
    with pytest.raises(WaitError):
        controller.create_task(app.guid, TASK)
    controller.close()


@pytest.mark.parametrize("after", [True, False], ids=["after_the_work", "before_the_work"])
@pytest.mark.parametrize("kind", ["cut", "bad_gateway", "gateway_timeout"])
def test_after_an_unclear_answer_the_label_tells_whether_there_is_a_task(
    controller: Controller, cc: StandInController, app: MadeApp, kind: str, *, after: bool
) -> None:
    cc.fault(kind, method="POST", after=after, count=1)
    with pytest.raises(DoubtError):
        controller.create_task(app.guid, TASK)
    assert len(controller.find_tasks(app.guid, "e-1")) == (1 if after else 0)
    assert len(cc.requests(method="POST")) == 1  # never repeated by itself


def test_an_answer_that_does_not_come_in_time_leaves_doubt(
    cloud_foundry: CloudFoundrySettings, cc: StandInController, app: MadeApp
) -> None:
    controller = Controller(replace(cloud_foundry, read_timeout_seconds=0.2))
    controller.info()
    cc.fault("slow", seconds=1, method="POST", after=True)
    with pytest.raises(DoubtError):
        controller.create_task(app.guid, TASK)
    (found,) = wait_until(lambda: controller.find_tasks(app.guid, "e-1"))
    assert found.name == "nightly"
    controller.close()


def test_an_internal_error_that_is_not_cloud_controllers_own_leaves_doubt(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    cc.fault("status", status=500, body="<html>oops</html>", content_type="text/html", method="POST")
    with pytest.raises(DoubtError):
        controller.create_task(app.guid, TASK)


def test_a_success_without_a_task_leaves_doubt(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    cc.fault("not_json", method="POST")
    with pytest.raises(DoubtError):
        controller.create_task(app.guid, TASK)


def test_tasks_are_found_by_their_execution_the_oldest_first(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    older = cc.add_tasks(app.guid, SUCCEEDED, age_seconds=60, labels={EXECUTION_LABEL: "e-1"})
    newer = cc.add_tasks(app.guid, SUCCEEDED, labels={EXECUTION_LABEL: "e-1"})
    cc.add_tasks(app.guid, SUCCEEDED, labels={EXECUTION_LABEL: "e-2"})
    assert [task.guid for task in controller.find_tasks(app.guid, "e-1")] == older + newer


def test_many_tasks_are_asked_for_at_once(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    guids = cc.add_tasks(app.guid, RUNNING_FOR_EVER, count=TASKS_PER_REQUEST - 1)
    found = controller.tasks([*guids, UNKNOWN])
    assert found.keys() == set(guids)
    assert {task.state for task in found.values()} == {TaskState.RUNNING}
    assert len(cc.requests(path="^/v3/tasks$")) == 1


def test_no_request_is_longer_than_a_router_takes(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    guids = cc.add_tasks(app.guid, failed("Exited with status 2"), count=2 * TASKS_PER_REQUEST)
    found = controller.tasks(guids)
    assert {task.failure_reason for task in found.values()} == {"Exited with status 2"}
    assert len(found) == 2 * TASKS_PER_REQUEST
    assert len(cc.requests(path="^/v3/tasks$")) == 2


def test_a_list_is_followed_to_its_next_page(
    controller: Controller, cc: StandInController, uaa: StandInUaa, app: MadeApp
) -> None:
    guids = cc.add_tasks(app.guid, RUNNING_FOR_EVER, count=2)
    first = _body(cc, uaa, f"/v3/tasks?guids={','.join(guids)}&per_page=1")
    cc.fault("status", status=200, content_type="application/json", body=first, path="per_page=5000", count=1)
    assert controller.tasks(guids).keys() == set(guids)


def test_a_list_that_continues_elsewhere_is_not_followed(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    body = '{"pagination":{"next":{"href":"http://127.0.0.1:1/v3/tasks?page=2"}},"resources":[]}'
    cc.fault("status", status=200, content_type="application/json", body=body)
    with pytest.raises(CannotTellError, match="another host"):
        controller.tasks([UNKNOWN])


def test_a_list_without_end_is_given_up(controller: Controller, cc: StandInController) -> None:
    body = json.dumps({"pagination": {"next": {"href": f"{cc.url}/v3/tasks?page=2"}}, "resources": []})
    cc.fault("status", status=200, content_type="application/json", body=body)
    with pytest.raises(CannotTellError, match="pages"):
        controller.tasks([UNKNOWN])


def test_a_task_that_vanished_is_not_found(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    task = controller.create_task(app.guid, TASK)
    cc.remove_task(task.guid)
    with pytest.raises(NotFoundError, match="Task not found"):
        controller.get_task(task.guid)
    assert controller.tasks([task.guid]) == {}


def test_a_cancelled_task_is_stopped(controller: Controller, app: MadeApp) -> None:
    task = controller.create_task(app.guid, replace(TASK, command="sleep 300"))
    assert controller.cancel_task(task.guid).state is TaskState.CANCELING
    ended = wait_until(lambda: _ended(controller, task.guid))
    assert (ended.state, ended.failure_reason) == (TaskState.FAILED, "task was cancelled")


def test_cancelling_is_refused_when_the_task_has_ended(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    (guid,) = cc.add_tasks(app.guid, SUCCEEDED)
    with pytest.raises(RefusedError, match="Task state is SUCCEEDED and therefore cannot be canceled"):
        controller.cancel_task(guid)


def test_cancelling_can_fail(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    (guid,) = cc.add_tasks(app.guid, RUNNING_FOR_EVER)
    cc.fault("server_error", path="/actions/cancel", count=1)
    with pytest.raises(CannotTellError):
        controller.cancel_task(guid)
    with pytest.raises(NotFoundError):
        controller.cancel_task(UNKNOWN)


def _ended(controller: Controller, guid: str) -> Any:
    task = controller.get_task(guid)
    return task if task.state.is_final else None


def _body(cc: StandInController, uaa: StandInUaa, path: str) -> str:
    headers = {"Authorization": f"bearer {uaa.admin_token()}"}
    return requests.get(cc.url + path, headers=headers, timeout=5).text

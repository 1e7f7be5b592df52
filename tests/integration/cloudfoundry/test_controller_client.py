"""The Cloud Controller client against a server: every answer is a value, a refusal, a not-found or a cannot-tell."""

import json
import threading
from collections.abc import Callable, Iterator
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
    TokenUnavailableError,
    WaitError,
)
from scheduler.cloudfoundry.resources import EXECUTION_LABEL, NewTask, Role, TaskState
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


@pytest.fixture
def controller(cloud_foundry: CloudFoundrySettings) -> Iterator[Controller]:
    client = Controller(cloud_foundry)
    yield client
    client.close()


@pytest.fixture
def app(cc: StandInController) -> MadeApp:
    return cc.add_app()


def test_an_app_is_found_with_its_space(controller: Controller, app: MadeApp) -> None:
    found = controller.get_app(app.guid)
    assert (found.guid, found.name, found.space_guid) == (app.guid, app.name, DEV_SPACE)  # checklist 105


def test_only_cloud_controllers_own_not_found_error_means_that_an_app_is_gone(controller: Controller) -> None:
    with pytest.raises(NotFoundError, match="App not found"):  # checklist 243
        controller.get_app(UNKNOWN)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("forbidden", 403),  # checklist 244
        ("server_error", 500),  # checklist 245
        ("unavailable", 503),
        ("router_503", 503),
        ("bad_gateway", 502),
        ("gateway_timeout", 504),
        ("router_404", 404),  # checklist 247
        ("unknown_route", 404),  # checklist 248
        ("rate_limited", 429),
        ("not_json", None),
        ("cut", None),  # checklist 246
    ],
)
def test_any_other_answer_means_that_nothing_can_be_told(
    controller: Controller, cc: StandInController, app: MadeApp, kind: str, status: int | None
) -> None:
    cc.fault(kind, path="/v3/apps/")
    with pytest.raises(CannotTellError) as raised:
        controller.get_app(app.guid)
    assert raised.value.status == status


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("text/plain", '{"errors":[{"code":10010,"title":"CF-ResourceNotFound","detail":"App not found"}]}'),
        ("application/json", '{"errors":[{"code":10009,"title":"CF-Other","detail":"App not found"}]}'),
        ("application/json", '{"errors":[]}'),
        ("application/json", '{"errors":{"code":10010}}'),
        ("application/json", '[{"code":10010}]'),
        ("application/json", "null"),
        ("application/json", "[" * 100_000),
        ("application/json", ""),
    ],
)
def test_a_404_that_is_not_exactly_cloud_controllers_own_proves_nothing(
    controller: Controller, cc: StandInController, app: MadeApp, content_type: str, body: str
) -> None:
    cc.fault("status", status=404, content_type=content_type, body=body, path="/v3/apps/")
    with pytest.raises(CannotTellError):
        controller.get_app(app.guid)


@pytest.mark.parametrize("body", ["{}", "[]", '"x"', '{"guid":1}', '{"guid":"g","name":"n"}'])
def test_an_answer_of_another_shape_means_that_nothing_can_be_told(
    controller: Controller, cc: StandInController, app: MadeApp, body: str
) -> None:
    cc.fault("status", status=200, content_type="application/json", body=body, path="/v3/apps/")
    with pytest.raises(CannotTellError, match="unreadable"):
        controller.get_app(app.guid)


def test_an_answer_that_does_not_come_in_time_means_that_nothing_can_be_told(
    cloud_foundry: CloudFoundrySettings, cc: StandInController, app: MadeApp
) -> None:
    cc.fault("slow", seconds=3, path="/v3/apps/")
    controller = Controller(replace(cloud_foundry, read_timeout_seconds=0.2))
    with pytest.raises(CannotTellError):
        controller.get_app(app.guid)
    controller.close()
    assert len(cc.requests(path="/v3/apps/")) == 1  # whoever asks has waited long enough already


def test_an_answer_of_more_than_ten_megabytes_is_not_read(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    cc.fault("status", status=200, content_type="application/json", body="x" * (10 * 1024 * 1024 + 1))
    with pytest.raises(CannotTellError, match="larger"):
        controller.get_app(app.guid)


@pytest.mark.parametrize("guid", ["", ".", "..", "../tasks", "a/b", "a,b", "a b", "%2e%2e", "a?b", "é", "x" * 256])
def test_what_is_no_guid_is_never_asked_about(controller: Controller, cc: StandInController, guid: str) -> None:
    with pytest.raises(CannotTellError):
        controller.get_app(guid)
    with pytest.raises(CannotTellError):
        controller.has_role([Role.SPACE_DEVELOPER], DEVELOPER, guid)
    with pytest.raises(WaitError):
        controller.create_task(guid, TASK)
    assert not cc.requests()


@pytest.mark.parametrize("kind", ["unavailable", "bad_gateway", "rate_limited", "cut"])
def test_a_get_is_repeated_after_a_passing_failure(
    controller: Controller, cc: StandInController, app: MadeApp, kind: str
) -> None:
    cc.fault(kind, path="/v3/apps/", count=2)
    assert controller.get_app(app.guid).guid == app.guid
    assert len(cc.requests(path="/v3/apps/")) == 3


def test_a_get_waits_as_long_as_it_is_told_to(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    cc.fault("rate_limited", path="/v3/apps/", count=1, retry_after="1")
    assert controller.get_app(app.guid).guid == app.guid
    first, second = cc.requests(path="/v3/apps/")
    assert second["at"] - first["at"] >= 1


def test_a_get_that_is_told_to_wait_long_gives_up_at_once_and_says_how_long(
    controller: Controller, cc: StandInController, app: MadeApp
) -> None:
    cc.fault("rate_limited", path="/v3/apps/", retry_after="120")
    with pytest.raises(CannotTellError) as raised:
        controller.get_app(app.guid)
    assert raised.value.retry_after == 120
    assert len(cc.requests(path="/v3/apps/")) == 1


def test_connections_are_kept_and_shared(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    for _ in range(5):
        controller.get_app(app.guid)
    assert len({request["peer"] for request in cc.requests(path="/v3/apps/")}) == 1


def test_many_threads_ask_with_one_token(controller: Controller, uaa: StandInUaa, app: MadeApp) -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(controller.get_app(app.guid).guid)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [app.guid] * 20
    assert len(uaa.requests(path="/oauth/token")) == 1


def test_a_refused_token_is_renewed_once(
    controller: Controller, cc: StandInController, uaa: StandInUaa, app: MadeApp
) -> None:
    controller.get_app(app.guid)
    cc.fault("invalid_token", count=1)
    assert controller.get_app(app.guid).guid == app.guid
    assert len(uaa.requests(path="/oauth/token")) == 2


def test_a_token_that_is_refused_again_means_that_nothing_can_be_told(
    controller: Controller, cc: StandInController, uaa: StandInUaa, app: MadeApp
) -> None:
    cc.fault("invalid_token")
    with pytest.raises(CannotTellError) as raised:
        controller.get_app(app.guid)
    assert raised.value.status == 401
    assert len(cc.requests(path="/v3/apps/")) == 2
    assert len(uaa.requests(path="/oauth/token")) == 2


def test_a_token_that_has_ended_is_not_used(controller: Controller, uaa: StandInUaa, app: MadeApp) -> None:
    uaa.set_client(token_seconds=-1)
    with pytest.raises(CannotTellError):
        controller.get_app(app.guid)
    uaa.set_client()
    assert controller.get_app(app.guid).guid == app.guid


@pytest.mark.parametrize("kind", ["server_error", "cut", "not_json"])
def test_without_a_token_nothing_can_be_told(
    controller: Controller, uaa: StandInUaa, cc: StandInController, app: MadeApp, kind: str
) -> None:
    uaa.fault(kind, path="/oauth/token")
    with pytest.raises(TokenUnavailableError):
        controller.get_app(app.guid)
    with pytest.raises(WaitError):
        controller.create_task(app.guid, TASK)
    assert not cc.requests()


def test_a_client_without_the_scopes_sees_nothing(controller: Controller, uaa: StandInUaa, app: MadeApp) -> None:
    uaa.set_client(scopes=["cloud_controller.read"])
    with pytest.raises(NotFoundError):
        controller.get_app(app.guid)
    assert not controller.has_role([Role.SPACE_DEVELOPER], DEVELOPER, DEV_SPACE)


def test_a_service_instance_is_looked_up_likewise(controller: Controller, cc: StandInController, app: MadeApp) -> None:
    with pytest.raises(NotFoundError, match="Service instance not found"):
        controller.get_service_instance(UNKNOWN)
    related = {"space": {"data": {"guid": DEV_SPACE}}}
    body = json.dumps({"guid": UNKNOWN, "name": "mine", "relationships": related})
    cc.fault("status", status=200, content_type="application/json", body=body, path="/v3/service_instances")
    found = controller.get_service_instance(UNKNOWN)
    assert (found.name, found.space_guid) == ("mine", DEV_SPACE)


def test_a_role_is_found_in_its_space_only(controller: Controller, cc: StandInController) -> None:
    other = cc.add_space(seed.OTHER_SPACE)
    assert controller.has_role([Role.SPACE_DEVELOPER], DEVELOPER, DEV_SPACE)
    assert not controller.has_role([Role.SPACE_DEVELOPER], DEVELOPER, other)
    assert not controller.has_role([Role.SPACE_MANAGER], DEVELOPER, DEV_SPACE)
    assert not controller.has_role([Role.SPACE_DEVELOPER], UNKNOWN, DEV_SPACE)


def test_a_role_is_found_in_any_space(controller: Controller) -> None:
    either = [Role.SPACE_DEVELOPER, Role.SPACE_MANAGER]
    assert controller.has_role(either, DEVELOPER, None)
    assert controller.has_role(either, seed.user_guid(seed.MANAGER), None)
    assert not controller.has_role(either, seed.user_guid(seed.AUDITOR), None)


def test_a_withdrawn_role_is_missed_at_once(controller: Controller, cc: StandInController) -> None:
    assert controller.has_role([Role.SPACE_DEVELOPER], DEVELOPER, DEV_SPACE)
    cc.withdraw(seed.DEVELOPER)
    assert not controller.has_role([Role.SPACE_DEVELOPER], DEVELOPER, DEV_SPACE)  # checklist 78


@pytest.mark.parametrize("kind", ["server_error", "rate_limited", "not_json", "router_404", "cut"])
def test_roles_that_cannot_be_read_are_not_granted(controller: Controller, cc: StandInController, kind: str) -> None:
    cc.fault(kind, path="/v3/roles")
    with pytest.raises(CannotTellError):  # checklist 79
        controller.has_role([Role.SPACE_DEVELOPER], DEVELOPER, DEV_SPACE)


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


def test_cloud_controller_says_what_it_is(controller: Controller) -> None:
    assert controller.info().name == "local"


def test_no_secret_is_shown_by_any_value(cloud_foundry: CloudFoundrySettings) -> None:
    assert seed.CLIENT_SECRET not in repr(cloud_foundry)
    assert "true" not in repr(TASK)  # a command may hold secrets


def _body(cc: StandInController, uaa: StandInUaa, path: str) -> str:
    headers = {"Authorization": f"bearer {uaa.admin_token()}"}
    return requests.get(cc.url + path, headers=headers, timeout=5).text


def _ended(controller: Controller, guid: str) -> Any:
    task = controller.get_task(guid)
    return task if task.state.is_final else None

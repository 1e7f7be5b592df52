"""The Cloud Controller client asks about apps, instances and roles: a value, a not-found or a cannot-tell."""

import json
import threading
from dataclasses import replace

import pytest

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.errors import (
    CannotTellError,
    NotFoundError,
    TokenUnavailableError,
    WaitError,
)
from scheduler.cloudfoundry.resources import EXECUTION_LABEL, NewTask, Role
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler_local import seed
from scheduler_local.testing import (
    MadeApp,
    StandInController,
    StandInUaa,
)

UNKNOWN = "6f5b3a3e-2b8e-4c8f-a8a2-0e6f4f1f6c11"
TASK = NewTask(command="true", name="nightly", memory_in_mb=64, disk_in_mb=32, labels={EXECUTION_LABEL: "e-1"})
DEVELOPER = seed.user_guid(seed.DEVELOPER)
DEV_SPACE = seed.guid_of("space", seed.SPACE)


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


def test_cloud_controller_says_what_it_is(controller: Controller) -> None:
    assert controller.info().name == "local"


def test_no_secret_is_shown_by_any_value(cloud_foundry: CloudFoundrySettings) -> None:
    assert seed.CLIENT_SECRET not in repr(cloud_foundry)
    assert "true" not in repr(TASK)  # a command may hold secrets

"""With SCHEDULER_BROKER_REQUIRE_BINDING nothing is set up or run for an app that is not bound."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.runtime.settings import Service, read_settings
from scheduler_api.app import create_app
from scheduler_api.wsgi import assemble
from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.api import Api, codes_of
from tests.integration.broker.platform import FakeCloudFoundry, Platform
from tests.integration.broker.rows import progress_of

StartApi = Callable[..., Api]
EXPRESSION = {"expression": "0 2 * * *"}


@pytest.fixture
def start(
    database_url: str, engine: Engine, cloud_foundry: CloudFoundrySettings, uaa: StandInUaa
) -> Iterator[StartApi]:
    """Return the API over the broker's database, with or without the rule."""
    closing: list[Callable[[], None]] = []

    def run(*, required: bool) -> Api:
        variables = {
            "DATABASE_URL": database_url,
            "CF_ENDPOINT": cloud_foundry.cf_endpoint,
            "UAA_ENDPOINT": cloud_foundry.uaa_endpoint,
            "CLIENT_ID": cloud_foundry.client_id,
            "CLIENT_SECRET": cloud_foundry.client_secret,
            "SCHEDULER_BROKER_ENABLED": "true",
            "SCHEDULER_BROKER_USERNAME": "cloud-controller",
            "SCHEDULER_BROKER_PASSWORD": "a password of length",
            "SCHEDULER_BROKER_API_URL": "https://scheduler.example.com",
            "SCHEDULER_BROKER_REQUIRE_BINDING": str(required).lower(),
        }
        collaborators = assemble(read_settings(Service.API, variables), engine, cloud_foundry)
        closing.append(collaborators.close)
        return Api(create_app(collaborators), uaa)

    yield run
    for close in closing:
        close()


@pytest.fixture
def api(start: StartApi) -> Api:
    return start(required=True)


@pytest.fixture
def app(cc: StandInController, cloud: FakeCloudFoundry, broker: Platform) -> MadeApp:
    """An app whose space has the scheduler turned on, but that is not bound."""
    app = cc.add_app(seed.SPACE)
    cloud.apps[app.guid] = app.space_guid
    broker.provision("instance", app.space_guid)
    return app


def _bind(broker: Platform, app: MadeApp, guid: str = "binding") -> None:
    assert broker.bind("instance", guid, app=app.guid).status_code == 201


def _unbind(broker: Platform, guid: str = "binding") -> None:
    assert broker.unbind("instance", guid).status_code == 200


def _assert_refused(answer: TestResponse) -> None:
    assert answer.status_code == 403
    assert codes_of(answer) == ["binding_required"]
    assert answer.get_json()["warnings"] == []


def _work(api: Api, broker: Platform, app: MadeApp) -> dict[str, Any]:
    """Create a job and a call with a schedule each while the app is bound, then unbind it."""
    _bind(broker, app)
    paths: dict[str, Any] = {}
    for kind in ("job", "call"):
        guid = api.create(kind, app.guid)["guid"]
        paths[kind] = f"/{kind}s/{guid}"
        paths[f"{kind} schedule"] = f"/{kind}s/{guid}/schedules/{api.schedule(f'/{kind}s/{guid}')['guid']}"
    _unbind(broker)
    return paths


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/jobs", {"name": "job", "command": "true"}),
        ("/calls", {"name": "call", "url": "https://example.com/", "auth_header": "x"}),
    ],
)
def test_nothing_is_created_for_an_unbound_app(
    api: Api, broker: Platform, app: MadeApp, path: str, body: dict[str, Any]
) -> None:
    # checklist 232, 233
    _assert_refused(api.post(f"{path}?app_guid={app.guid}", body))
    _bind(broker, app)
    assert api.post(f"{path}?app_guid={app.guid}", body).status_code == 201


def test_a_service_key_does_not_count(api: Api, broker: Platform, app: MadeApp) -> None:
    # checklist 208
    assert broker.bind("instance", "key", app=None).status_code == 201
    _assert_refused(api.post(f"/jobs?app_guid={app.guid}", {"name": "job", "command": "true"}))


@pytest.mark.parametrize("kind", ["job", "call"])
def test_nothing_is_scheduled_changed_run_triggered_or_resumed_for_an_unbound_app(
    api: Api, broker: Platform, app: MadeApp, kind: str
) -> None:
    # checklist 234, 235
    paths = _work(api, broker, app)
    work, schedule = paths[kind], paths[f"{kind} schedule"]

    def attempts() -> list[TestResponse]:
        return [
            api.post(f"{work}/schedules", EXPRESSION),
            api.post(f"{work}/execute"),
            api.patch(work, {"name": "another"}),
            api.patch(schedule, {"expression": "0 3 * * *"}),
            api.post(f"{schedule}/actions/trigger"),
            api.post(f"{schedule}/actions/resume"),
        ]

    for answer in attempts():
        _assert_refused(answer)
    _bind(broker, app)
    assert [answer.status_code for answer in attempts()] == [201, 201, 200, 200, 201, 200]


@pytest.mark.parametrize("kind", ["job", "call"])
def test_reading_pausing_and_deleting_stay_open(api: Api, broker: Platform, app: MadeApp, kind: str) -> None:
    # checklist 238
    paths = _work(api, broker, app)
    work, schedule = paths[kind], paths[f"{kind} schedule"]
    for path in (
        work,
        f"/{kind}s?space_guid={app.space_guid}",
        f"{work}/schedules",
        f"{work}/history",
        schedule,
        f"{schedule}/history",
    ):
        assert api.get(path).status_code == 200, path
    assert api.post(f"{schedule}/actions/pause").status_code == 200
    assert api.delete(schedule).status_code == 204
    assert api.delete(work).status_code == 204


def test_space_access_comes_first(api: Api, broker: Platform, app: MadeApp) -> None:
    # checklist 236
    paths = _work(api, broker, app)
    for user in (seed.STRANGER, seed.MANAGER, seed.AUDITOR):
        refused = api.post(f"/jobs?app_guid={app.guid}", {"name": "x", "command": "true"}, user=user)
        assert (refused.status_code, codes_of(refused)) == (403, ["forbidden"])
        for path in (f"{paths['job']}/execute", f"{paths['call']}/schedules"):
            hidden = api.post(path, EXPRESSION, user=user)
            assert (hidden.status_code, codes_of(hidden)) == (404, ["not_found"])


def test_an_admin_passes_regardless(api: Api, broker: Platform, app: MadeApp) -> None:
    # checklist 237
    paths = _work(api, broker, app)
    for path, body in (
        (f"/jobs?app_guid={app.guid}", {"name": "another", "command": "true"}),
        (f"{paths['job']}/schedules", EXPRESSION),
        (f"{paths['call']}/execute", None),
        (f"{paths['job schedule']}/actions/trigger", None),
    ):
        assert api.post(path, body, user=seed.ADMIN).status_code == 201, path


def test_without_the_rule_unbound_apps_work(start: StartApi, app: MadeApp) -> None:
    # checklist 239
    api = start(required=False)
    job = api.create_job(app.guid)
    api.schedule(f"/jobs/{job['guid']}")
    assert api.post(f"/jobs/{job['guid']}/execute").status_code == 201


def test_what_an_unbind_paused_needs_a_binding_even_without_the_rule(
    start: StartApi, broker: Platform, app: MadeApp
) -> None:
    api = start(required=False)
    schedule = _work(api, broker, app)["job schedule"]
    _assert_refused(api.post(f"{schedule}/actions/resume"))
    _bind(broker, app)
    assert api.get(schedule).get_json()["enabled"] is True


def test_the_same_app_name_in_another_space_stays_unbound(
    api: Api, broker: Platform, app: MadeApp, cc: StandInController
) -> None:
    # checklist 240
    _bind(broker, app)
    namesake = cc.add_app(seed.OTHER_SPACE, name=app.name)
    cc.grant(seed.DEVELOPER, seed.OTHER_SPACE)
    _assert_refused(api.post(f"/jobs?app_guid={namesake.guid}", {"name": "job", "command": "true"}))


def test_a_schedule_is_never_left_running_whichever_of_creation_and_unbind_comes_first(
    api: Api, broker: Platform, app: MadeApp, engine: Engine
) -> None:
    # checklist 211, 234
    _bind(broker, app)
    job = api.create_job(app.guid)
    api.authorization(seed.DEVELOPER)  # the token is fetched before the race
    outcomes = set()
    with ThreadPoolExecutor(2) as threads:
        for number in range(12):
            gate = threading.Barrier(2)

            def create(gate: threading.Barrier = gate) -> TestResponse:
                gate.wait(30)
                return api.post(f"/jobs/{job['guid']}/schedules", EXPRESSION)

            def unbind(gate: threading.Barrier = gate, number: int = number) -> int:
                gate.wait(30)
                # The API asks UAA and Cloud Controller first, so the unbind has to wait a little to be a rival at all.
                threading.Event().wait(0.004 * number)
                return broker.unbind("instance", "binding").status_code

            created, unbound = threads.submit(create), threads.submit(unbind)
            assert unbound.result(30) == 200
            answer = created.result(30)
            outcomes.add(answer.status_code)
            if answer.status_code == 201:
                assert progress_of(engine, UUID(answer.get_json()["guid"])).paused_by == "unbind"
            else:
                _assert_refused(answer)
            _bind(broker, app)
    assert outcomes <= {201, 403}

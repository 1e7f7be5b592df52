"""With REQUIRE_BINDING an app must be bound before anything is set up or run for it."""

from typing import Any

import pytest
from sqlalchemy import Engine, text

from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController
from tests.fixtures.api import Api, codes_of, content_of, resources_of
from tests.integration.api.conftest import BROKER

_BODY = {"name": "n", "command": "c", "url": "https://example.com", "auth_header": "x"}


class TestRequired:
    """The rule is in force."""

    @pytest.fixture
    def variables(self) -> dict[str, str]:
        return {**BROKER, "SCHEDULER_BROKER_REQUIRE_BINDING": "true"}

    @pytest.mark.parametrize("kind", ["job", "call"])
    def test_an_unbound_app_gets_nothing_set_up_or_run(self, api: Api, app: MadeApp, engine: Engine, kind: str) -> None:
        # checklist 232, 233, 234, 235
        creating = api.post(f"/{kind}s?app_guid={app.guid}", _BODY)
        _refused(creating)
        assert creating.json["warnings"] == []  # type: ignore[index]
        path, schedule = _made_while_bound(api, app, engine, kind)
        for method, where, body in _covered(path, schedule):
            _refused(api.ask(method, where, body))
        assert content_of(api.get(path))["name"] == "n"
        assert content_of(api.get(schedule))["state"] == "active"
        with engine.connect() as connection:
            assert connection.execute(text("SELECT count(*) FROM executions")).scalar_one() == 0

    @pytest.mark.parametrize("kind", ["job", "call"])
    def test_a_stranger_learns_nothing_about_bindings(self, api: Api, app: MadeApp, engine: Engine, kind: str) -> None:
        # checklist 236
        creating = api.post(f"/{kind}s?app_guid={app.guid}", _BODY, user=seed.STRANGER)
        assert (creating.status_code, codes_of(creating)) == (403, ["forbidden"])
        path, schedule = _made_while_bound(api, app, engine, kind)
        for method, where, body in _covered(path, schedule):
            assert api.ask(method, where, body, user=seed.STRANGER).status_code == 404

    @pytest.mark.parametrize("kind", ["job", "call"])
    def test_an_admin_passes_regardless(self, api: Api, app: MadeApp, engine: Engine, kind: str) -> None:
        # checklist 237
        assert api.post(f"/{kind}s?app_guid={app.guid}", {**_BODY, "name": "a"}, user=seed.ADMIN).status_code == 201
        path, schedule = _made_while_bound(api, app, engine, kind)
        for method, where, body in _covered(path, schedule):
            assert api.ask(method, where, body, user=seed.ADMIN).status_code in {200, 201}, where

    @pytest.mark.parametrize("kind", ["job", "call"])
    def test_looking_and_deleting_stay_open(self, api: Api, app: MadeApp, engine: Engine, kind: str) -> None:
        # checklist 238
        path, schedule = _made_while_bound(api, app, engine, kind)
        for where in (path, f"{path}/schedules", f"{path}/history", schedule, f"{schedule}/history"):
            assert api.get(where).status_code == 200
        assert resources_of(api.get(f"/{kind}s?space_guid={app.space_guid}"))
        assert api.post(f"{schedule}/actions/pause").status_code == 200
        assert api.delete(schedule).status_code == 204
        assert api.delete(path).status_code == 204

    def test_a_binding_opens_its_own_app_and_no_other(
        self, api: Api, app: MadeApp, cc: StandInController, engine: Engine
    ) -> None:
        # checklist 240
        cc.grant(seed.DEVELOPER, seed.OTHER_SPACE)
        namesake = cc.add_app(seed.OTHER_SPACE, name=app.name)
        _bind(engine, app)
        assert api.post(f"/jobs?app_guid={app.guid}", _BODY).status_code == 201
        _refused(api.post(f"/jobs?app_guid={namesake.guid}", _BODY))

    def test_a_service_key_is_no_binding(self, api: Api, app: MadeApp, engine: Engine) -> None:
        # checklist 208
        _bind(engine, app, key=True)
        _refused(api.post(f"/jobs?app_guid={app.guid}", _BODY))


def test_without_the_rule_unbound_apps_work(api: Api, app: MadeApp) -> None:
    # checklist 239
    job = api.create_job(app.guid)
    api.schedule(f"/jobs/{job['guid']}")
    assert api.post(f"/jobs/{job['guid']}/execute").status_code == 201


def test_what_an_unbind_paused_is_resumed_only_with_a_binding(api: Api, app: MadeApp, engine: Engine) -> None:
    job = f"/jobs/{api.create_job(app.guid)['guid']}"
    path = f"{job}/schedules/{api.schedule(job)['guid']}"
    with engine.begin() as connection:
        connection.execute(text("UPDATE schedules SET enabled = false, paused_by = 'unbind', state = 'paused'"))
    _refused(api.post(f"{path}/actions/resume"))
    _refused(api.patch(path, {"enabled": True, "metadata": {"a": 1}}))
    assert content_of(api.get(path))["metadata"] == {}
    _bind(engine, app)
    assert content_of(api.post(f"{path}/actions/resume"))["state"] == "active"


def _refused(answer: Any) -> None:
    assert answer.status_code == 403, answer.text
    assert codes_of(answer) == ["binding_required"]


def _made_while_bound(api: Api, app: MadeApp, engine: Engine, kind: str) -> tuple[str, str]:
    """Return the paths of a job or call and of its schedule, made before the app lost its binding."""
    _bind(engine, app)
    path = f"/{kind}s/{content_of(api.post(f'/{kind}s?app_guid={app.guid}', _BODY), 201)['guid']}"
    schedule = f"{path}/schedules/{api.schedule(path)['guid']}"
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM service_bindings"))
    return path, schedule


def _covered(path: str, schedule: str) -> list[tuple[str, str, Any]]:
    return [
        ("POST", f"{path}/schedules", {"expression": "0 0 * * *"}),
        ("POST", f"{path}/execute", None),
        ("PATCH", path, {"name": "other"}),
        ("PATCH", schedule, {"metadata": {"a": 1}}),
        ("POST", f"{schedule}/actions/trigger", None),
        ("POST", f"{schedule}/actions/resume", None),
        ("POST", f"{schedule}/actions/revalidate", None),
    ]


def _bind(engine: Engine, app: MadeApp, *, key: bool = False) -> None:
    insert = text("""
        INSERT INTO service_bindings (guid, instance_guid, service_id, plan_id, app_guid, created_at)
        VALUES (gen_random_uuid(), 'instance', 'service', 'plan', :app, now())
    """)
    with engine.begin() as connection:
        connection.execute(insert, {"app": None if key else app.guid})

"""Errors: one shape, a status that fits, nothing that tells how we are built."""

import logging
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.runtime.settings import Settings
from scheduler.store.engine import open_engine
from scheduler_api.app import create_app
from scheduler_api.wsgi import assemble
from scheduler_local.testing import MadeApp, StandInUaa
from tests.fixtures.api import NOBODY, Api, codes_of, content_of, errors_of
from tests.fixtures.postgres import PostgresServer


@pytest.mark.parametrize(
    "path", ["/nothing", "/jobs/", "/jobs/x/y", "/jobs/x", "/jobs//history", "/%2e%2e", "/jobs/%2F"]
)
def test_where_there_is_nothing_the_answer_is_404(api: Api, path: str) -> None:
    answer = api.get(path)
    assert answer.status_code == 404
    assert codes_of(answer) == ["not_found"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("PUT", "/jobs", "GET, HEAD, POST"), ("POST", "/", "GET, HEAD"), ("OPTIONS", "/jobs", "GET, HEAD, POST"),
     ("GET", "/schedules/validate", "POST"), ("DELETE", "/scheduler-time-zones", "GET, HEAD")],
)  # fmt: skip
def test_a_method_that_a_path_does_not_serve_is_405(api: Api, method: str, path: str, allowed: str) -> None:
    answer = api.ask(method, path)
    assert answer.status_code == 405
    assert codes_of(answer) == ["method_not_allowed"]
    assert answer.headers["Allow"] == allowed


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "application/xml"])
def test_a_body_of_another_type_is_415(api: Api, app: MadeApp, content_type: str) -> None:
    answer = api.post(
        f"/jobs?app_guid={app.guid}", data=b'{"name":"n","command":"c"}', headers={"Content-Type": content_type}
    )
    assert answer.status_code == 415
    assert codes_of(answer) == ["unsupported_media_type"]


@pytest.mark.parametrize(
    "content_type", ["application/json", "application/json; charset=utf-8", "APPLICATION/JSON", ""]
)
def test_json_is_taken_under_each_of_its_names(api: Api, app: MadeApp, content_type: str) -> None:
    answer = api.post(
        f"/jobs?app_guid={app.guid}", data=b'{"name":"n","command":"c"}', headers={"Content-Type": content_type}
    )
    assert answer.status_code == 201


def test_a_body_over_a_mebibyte_is_413(api: Api, app: MadeApp) -> None:
    answer = api.post(f"/jobs?app_guid={app.guid}", {"name": "n", "command": "c", "padding": "x" * 1024 * 1024})
    assert answer.status_code == 413
    assert codes_of(answer) == ["body_too_large"]


def test_a_fault_of_ours_is_500_and_says_nothing_but_where_to_look(
    api: Api, app: MadeApp, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    job = api.create_job(app.guid)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE executions RENAME TO gone"))
    try:
        answer = api.get(f"/jobs/{job['guid']}/history")
    finally:
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE gone RENAME TO executions"))
    assert answer.status_code == 500
    assert codes_of(answer) == ["internal_error"]
    assert not {"executions", "SELECT", "psycopg2"} & set(answer.text.replace('"', " ").split())
    assert [record for record in caplog.records if getattr(record, "action", "") == "request_failed"]


def test_a_request_id_is_taken_over_or_made(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    assert api.get("/jobs", headers={"X-Request-Id": "abc-123"}).headers["X-Request-Id"] == "abc-123"
    assert api.get("/jobs", headers={"X-Vcap-Request-Id": "from-router"}).headers["X-Request-Id"] == "from-router"
    made = api.get("/jobs", headers={"X-Request-Id": "a b\x7f"}).headers["X-Request-Id"]
    assert made
    assert " " not in made
    assert api.get("/nothing", user=NOBODY).headers["X-Request-Id"]
    lines = [record for record in caplog.records if getattr(record, "action", "") == "jobs.of_space"]
    assert len(lines) == 3
    assert lines[0].status == 403  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ["/v2", "/v2/catalog", "/v2/service_instances/x"])
@pytest.mark.parametrize("user", [NOBODY, "developer"])
def test_the_brokers_paths_are_not_here_and_not_401(api: Api, path: str, user: str) -> None:
    # checklist 26, 27
    assert api.get(path, user=user).status_code == 404
    assert api.ask("PUT", path, user=user).status_code == 404


class TestWithoutADatabase:
    """The database is away, and comes back."""

    @pytest.fixture
    def crashing(
        self, own_postgres: PostgresServer, settings: Settings, cloud_foundry: CloudFoundrySettings, uaa: StandInUaa
    ) -> Iterator[Api]:
        engine = open_engine(own_postgres.create_database(), pre_ping=True)
        collaborators = assemble(settings, engine, cloud_foundry)
        yield Api(create_app(collaborators), uaa)
        collaborators.close()
        engine.dispose()

    def test_requests_are_503_until_it_is_back(self, crashing: Api, own_postgres: PostgresServer, app: MadeApp) -> None:
        job = crashing.create_job(app.guid)
        path = f"/jobs/{job['guid']}"
        own_postgres.kill()
        for answer in (crashing.get(path), crashing.post(f"/jobs?app_guid={app.guid}", {"name": "n", "command": "c"})):
            assert answer.status_code == 503
            assert codes_of(answer) == ["database_unavailable"]
            assert answer.headers["Retry-After"]
        own_postgres.start()
        assert content_of(crashing.get(path)) == job


def test_a_row_that_somebody_holds_is_waited_for_in_vain_but_not_without_end(
    settings: Settings, cloud_foundry: CloudFoundrySettings, uaa: StandInUaa, app: MadeApp, engine: Engine
) -> None:
    impatient = open_engine(settings.database_url, lock_timeout_seconds=0.1)
    collaborators = assemble(settings, impatient, cloud_foundry)
    api = Api(create_app(collaborators), uaa)
    job = api.create_job(app.guid)
    with engine.begin() as connection:
        connection.execute(text("SELECT 1 FROM jobs FOR UPDATE"))
        answer = api.delete(f"/jobs/{job['guid']}")
    assert answer.status_code == 503
    assert "lock" not in errors_of(answer)[0]["message"]
    assert api.delete(f"/jobs/{job['guid']}").status_code == 204
    collaborators.close()
    impatient.dispose()

"""GET /orphans: what is left behind, or a refusal; never a partial list."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import jwt
import pytest
from sqlalchemy import Engine

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.domain.guids import new_guid
from scheduler.domain.jobs import Job
from scheduler.domain.states import RefType
from scheduler.testing.factories import make_call, make_job, make_schedule
from scheduler_api.usecases.app_checks import LOOKUPS_AT_A_TIME
from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.api import NOBODY, Api, codes_of, errors_of
from tests.fixtures.rows import Rows
from tests.integration.orphans.conftest import GONE, READ_TIMEOUT_SECONDS

SCOPES = ("cloud_controller.admin", "cloud_controller.admin_read_only", "cloud_controller.global_auditor")
APP_PATH = "^/v3/apps/"
# Whatever Cloud Controller, or something before it, may say instead of a clear answer.
DOUBTS: list[dict[str, Any]] = [
    {"kind": "forbidden"},
    {"kind": "server_error"},
    {"kind": "unavailable"},
    {"kind": "router_503"},
    {"kind": "bad_gateway"},
    {"kind": "gateway_timeout"},
    {"kind": "router_404"},
    {"kind": "unknown_route"},
    {"kind": "rate_limited", "retry_after": "3600"},
    {"kind": "not_json"},
    {"kind": "cut"},
    {"kind": "slow", "seconds": READ_TIMEOUT_SECONDS + 1},
    {"kind": "status", "status": 404, "content_type": "application/json", "body": '{"errors":[]}'},
    {"kind": "status", "status": 404, "content_type": "text/html", "body": "<html>10010</html>"},
    {"kind": "status", "status": 401, "content_type": "application/json", "body": '{"errors":[{"code":1000}]}'},
]


def _orphans(api: Api) -> Any:
    answer = api.get("/orphans", user=seed.ADMIN)
    assert answer.status_code == 200, answer.text
    return answer.json


@pytest.mark.parametrize("user", [seed.DEVELOPER, seed.MANAGER, seed.AUDITOR, seed.STRANGER])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/orphans", None), ("POST", "/orphans/delete", {"guids": ["x"]}), ("POST", "/orphans/delete", [])],
)
def test_whoever_is_no_admin_gets_403_with_an_empty_body(
    api: Api, user: str, method: str, path: str, body: Any
) -> None:
    # checklist 241
    answer = api.ask(method, path, body, user=user)
    assert (answer.status_code, answer.data) == (403, b"")


@pytest.mark.parametrize(("method", "path"), [("GET", "/orphans"), ("POST", "/orphans/delete")])
def test_a_token_of_no_user_gets_401_even_with_the_admin_scope(
    api: Api, uaa: StandInUaa, method: str, path: str
) -> None:
    # checklist 242
    client = f"bearer {uaa.client_token(scopes=['cloud_controller.admin', 'openid'])}"
    for token in ("", client, "bearer nonsense", "Basic YTpi"):
        assert api.ask(method, path, user=NOBODY, token=token).status_code == 401


def test_nothing_orphaned_gives_two_empty_lists(api: Api, rows: Rows, app: MadeApp) -> None:
    # checklist 264, 270
    assert _orphans(api) == {"resources": [], "orphan_schedules": []}
    job = make_job(app_guid=app.guid)
    rows.add(job, make_schedule(job))
    assert _orphans(api) == {"resources": [], "orphan_schedules": []}


def test_jobs_and_calls_of_a_gone_app_are_shown_with_their_schedules(api: Api, rows: Rows) -> None:
    # checklist 243, 265, 266
    job = make_job(app_guid=GONE, name="nightly")
    schedule = make_schedule(job, enabled=False)
    rows.add(job, schedule)
    (resource,) = _orphans(api)["resources"]
    assert resource == {
        "guid": str(job.guid),
        "type": "job",
        "name": "nightly",
        "app_guid": GONE,
        "space_guid": job.space_guid,
        "schedules": [
            {
                "guid": str(schedule.guid),
                "enabled": False,
                "expression": "0 2 * * *",
                "expression_type": "cron_expression",
                "created_at": "2026-03-01T02:00:00Z",
                "updated_at": "2026-03-01T02:00:00Z",
            }
        ],
    }


def test_schedules_without_a_job_or_call_are_shown_with_what_they_belonged_to(api: Api, rows: Rows) -> None:
    # checklist 257, 267
    schedule = make_schedule()
    rows.add(schedule)
    assert _orphans(api) == {
        "resources": [],
        "orphan_schedules": [
            {
                "guid": str(schedule.guid),
                "enabled": True,
                "expression": "0 2 * * *",
                "expression_type": "cron_expression",
                "ref_type": "job",
                "ref_guid": str(schedule.ref_guid),
                "created_at": "2026-03-01T02:00:00Z",
                "updated_at": "2026-03-01T02:00:00Z",
            }
        ],
    }


def test_resources_are_sorted_by_space_app_type_and_name(api: Api, rows: Rows) -> None:
    # checklist 268, 271: all spaces, capitals before small letters as in Go
    places = [("a", "1"), ("a", "2"), ("b", "0")]
    names = ["Zebra", "apple", "pear", "Äpfel"]
    for space, app in reversed(places):
        for name in reversed(names):
            rows.add(make_job(space_guid=space, app_guid=app, name=name))
            rows.add(make_call(space_guid=space, app_guid=app, name=name))
    shown = [(each["space_guid"], each["app_guid"], each["type"], each["name"]) for each in _orphans(api)["resources"]]
    assert shown == [(*place, kind, name) for place in places for kind in ("call", "job") for name in names]


def test_orphan_schedules_are_sorted_by_type_and_guid_of_their_parent_then_their_own(api: Api, rows: Rows) -> None:
    # checklist 269
    parents = [new_guid() for _ in range(2)]
    stored = [make_schedule(ref_type=kind, ref_guid=ref) for kind in RefType for ref in parents for _ in range(2)]
    rows.add(*reversed(stored))
    shown = [(each["ref_type"], each["ref_guid"], each["guid"]) for each in _orphans(api)["orphan_schedules"]]
    assert shown == sorted((str(each.ref_type), str(each.ref_guid), str(each.guid)) for each in stored)


def test_a_call_with_the_guid_of_no_job_does_not_keep_a_schedule_of_a_job(api: Api, rows: Rows) -> None:
    call = make_call(app_guid=GONE)
    rows.add(call, make_schedule(ref_type=RefType.JOB, ref_guid=call.guid))
    assert len(_orphans(api)["orphan_schedules"]) == 1


def test_the_secrets_of_calls_are_not_shown(api: Api, rows: Rows) -> None:
    # checklist 96
    rows.add(make_call(app_guid=GONE))
    assert "c2VjcmV0" not in api.get("/orphans", user=seed.ADMIN).text


def test_what_lives_is_not_shown(api: Api, rows: Rows, app: MadeApp) -> None:
    # checklist 271
    alive, gone = make_job(app_guid=app.guid), make_job(app_guid=GONE)
    rows.add(alive, gone, make_schedule(alive), make_schedule(gone))
    found = _orphans(api)
    assert [each["guid"] for each in found["resources"]] == [str(gone.guid)]
    assert found["orphan_schedules"] == []


def test_each_app_is_asked_about_once_per_request(api: Api, rows: Rows, app: MadeApp, cc: StandInController) -> None:
    # checklist 260
    for guid in (app.guid, GONE):
        rows.add(make_job(app_guid=guid), make_job(app_guid=guid), make_call(app_guid=guid))
    for requests in (1, 2):
        _orphans(api)
        for guid in (app.guid, GONE):
            assert len(cc.requests(path=f"^/v3/apps/{guid}$")) == requests


def test_listing_changes_nothing(api: Api, rows: Rows, engine: Engine) -> None:
    # checklist 272, 288
    job = make_job(app_guid=GONE)
    rows.add(job, make_schedule(job), make_schedule())
    before = _everything(engine)
    _orphans(api)
    assert _everything(engine) == before


def _everything(engine: Engine) -> list[Any]:
    with engine.connect() as connection:
        return [
            connection.exec_driver_sql(f"SELECT * FROM {table} ORDER BY 1").all()
            for table in ("jobs", "calls", "schedules", "executions", "audit_events")
        ]


@pytest.mark.parametrize("doubt", DOUBTS, ids=str)
def test_in_any_doubt_about_one_app_there_is_no_list(
    api: Api, rows: Rows, cc: StandInController, doubt: dict[str, Any]
) -> None:
    # checklist 244, 245, 246, 247, 248, 262
    rows.add(make_job(app_guid=GONE), make_job(app_guid="another"), make_schedule())
    cc.fault(path="/v3/apps/another", **doubt)
    answer = api.get("/orphans", user=seed.ADMIN)
    assert answer.status_code == 502
    assert codes_of(answer) == ["cannot_tell"]


@pytest.mark.parametrize("guid", ["", "..", "a/b", "a?b", "a,b", "x" * 256, "ünïcode", "%2e%2e"])
def test_an_app_guid_that_cannot_be_asked_about_is_a_doubt_too(api: Api, rows: Rows, guid: str) -> None:
    rows.add(make_job(app_guid=guid))
    assert api.get("/orphans", user=seed.ADMIN).status_code == 502


def test_cloud_controller_being_away_is_a_doubt(api: Api, rows: Rows, cc: StandInController) -> None:
    # checklist 246
    rows.add(make_job(app_guid=GONE))
    cc.fault("cut")
    assert api.get("/orphans", user=seed.ADMIN).status_code == 502


@pytest.mark.parametrize("scope", SCOPES)
def test_each_of_three_scopes_of_our_own_suffices(api: Api, rows: Rows, uaa: StandInUaa, scope: str) -> None:
    # checklist 250, 251, 252
    uaa.set_client(scopes=["cloud_controller.read", scope])
    rows.add(make_job(app_guid=GONE))
    assert len(_orphans(api)["resources"]) == 1


def test_without_any_of_the_scopes_nothing_is_listed_and_all_three_are_named(
    api: Api, rows: Rows, uaa: StandInUaa, cc: StandInController
) -> None:
    # checklist 253
    uaa.set_client(scopes=["cloud_controller.read", "cloud_controller.write", "uaa.resource"])
    rows.add(make_job(app_guid=GONE), make_schedule())
    answer = api.get("/orphans", user=seed.ADMIN)
    assert answer.status_code == 500
    (error,) = errors_of(answer)
    assert all(scope in error["message"] for scope in SCOPES)
    assert cc.requests(path=APP_PATH) == []


def test_without_a_token_of_our_own_there_is_no_list(
    api: Api, rows: Rows, uaa: StandInUaa, cc: StandInController
) -> None:
    # checklist 254
    rows.add(make_job(app_guid=GONE))
    uaa.fault("server_error", path="/oauth/token")
    assert api.get("/orphans", user=seed.ADMIN).status_code == 502
    assert cc.requests(path=APP_PATH) == []


@pytest.mark.parametrize("token", ["opaque", "a.b.c", "e30.W10.e30", ""])
def test_with_a_token_of_our_own_that_cannot_be_decoded_there_is_no_list(
    api: Api, rows: Rows, uaa: StandInUaa, cc: StandInController, token: str
) -> None:
    # checklist 255
    rows.add(make_job(app_guid=GONE))
    body = json.dumps({"access_token": token, "expires_in": 600, "token_type": "bearer"})
    uaa.fault("status", path="/oauth/token", status=200, content_type="application/json", body=body)
    assert api.get("/orphans", user=seed.ADMIN).status_code == 502
    assert cc.requests(path=APP_PATH) == []


def test_the_check_has_a_token_of_its_own_and_both_are_kept(api: Api, rows: Rows, uaa: StandInUaa) -> None:
    # checklist 256
    rows.add(make_job(app_guid=GONE))
    _orphans(api)
    assert len(uaa.requests(method="POST", path="^/oauth/token$")) == 2
    uaa.set_client(scopes=["cloud_controller.read"])
    assert len(_orphans(api)["resources"]) == 1  # hence the rule to restart after changing the scopes
    assert len(uaa.requests(method="POST", path="^/oauth/token$")) == 2


def test_without_jobs_and_calls_neither_scope_nor_cloud_controller_is_needed(
    api: Api, rows: Rows, uaa: StandInUaa, cc: StandInController
) -> None:
    # checklist 257
    uaa.set_client(scopes=["cloud_controller.read"])
    rows.add(make_schedule())
    cc.fault("server_error")
    assert len(_orphans(api)["orphan_schedules"]) == 1
    assert uaa.requests(method="POST", path="^/oauth/token$") == []
    assert cc.requests() == []


def test_we_ask_with_a_token_of_our_own_client(api: Api, rows: Rows, cloud_foundry: CloudFoundrySettings) -> None:
    # checklist 249
    with _listening_controller() as (url, tokens):
        Controller(replace(cloud_foundry, cf_endpoint=url)).get_app("app")
    claims = jwt.decode(tokens[0], options={"verify_signature": False})
    assert claims["client_id"] == seed.CLIENT_ID
    assert "user_id" not in claims


@contextmanager
def _listening_controller() -> Iterator[tuple[str, list[str]]]:
    """Run something that knows every app and remembers the tokens that it was shown."""
    tokens: list[str] = []
    app = {"guid": "app", "name": "app", "relationships": {"space": {"data": {"guid": "space"}}}}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            tokens.append(self.headers["Authorization"].partition(" ")[2])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(app).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}", tokens
        server.shutdown()


def _jobs_of_gone_apps(count: int) -> list[Job]:
    return [make_job(app_guid=f"gone-{number:03}") for number in range(count)]


def test_ten_apps_are_asked_about_at_a_time(api: Api, rows: Rows, cc: StandInController) -> None:
    # checklist 261
    seconds, count = 1.0, 25
    rows.add(*_jobs_of_gone_apps(count))
    cc.fault("slow", path=APP_PATH, seconds=seconds)
    assert len(_orphans(api)["resources"]) == count
    # Each look-up takes at least so long, so those that began within that time of each other were under way at once.
    began = [each["at"] for each in cc.requests(path=APP_PATH)]
    at_once = [sum(0 <= other - one < seconds for other in began) for one in began]
    assert len(began) == count
    assert max(at_once) == LOOKUPS_AT_A_TIME


def test_the_first_failure_ends_the_look_ups(api: Api, rows: Rows, cc: StandInController) -> None:
    # checklist 262
    count = 60
    rows.add(*_jobs_of_gone_apps(count))
    cc.fault("forbidden", path=APP_PATH, skip=4, count=1)
    cc.fault("slow", path=APP_PATH, seconds=READ_TIMEOUT_SECONDS + 15)
    assert api.get("/orphans", user=seed.ADMIN).status_code == 502
    asked = cc.requests(path=APP_PATH)
    assert any(each["status"] is None for each in asked)  # nobody has waited for those under way
    assert len(asked) < 2 * LOOKUPS_AT_A_TIME


def test_a_query_that_fails_is_500(api: Api, rows: Rows) -> None:
    # checklist 263
    rows.run("ALTER TABLE calls RENAME TO calls_away")
    answer = api.get("/orphans", user=seed.ADMIN)
    assert (answer.status_code, codes_of(answer)) == (500, ["internal_error"])


def test_a_database_that_does_not_answer_is_500(api: Api, rows: Rows, engine: Engine) -> None:
    # checklist 263
    with engine.begin() as other:
        other.exec_driver_sql("LOCK TABLE jobs IN ACCESS EXCLUSIVE MODE")
        answer = api.get("/orphans", user=seed.ADMIN)
    assert (answer.status_code, codes_of(answer)) == (500, ["database_unavailable"])

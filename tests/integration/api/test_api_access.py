"""Who may do what: tokens before everything else, roles asked for each request, others' things hidden."""

from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import Engine, text

from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.api import NOBODY, Api, codes_of, content_of, errors_of

_GUID = str(uuid4())
_ROUTES = [
    ("POST", "/jobs?app_guid=x"), ("GET", "/jobs?space_guid=x"), ("GET", f"/jobs/{_GUID}"), ("PATCH", f"/jobs/{_GUID}"),
    ("DELETE", f"/jobs/{_GUID}"), ("POST", f"/jobs/{_GUID}/execute"), ("GET", f"/jobs/{_GUID}/history"),
    ("POST", f"/jobs/{_GUID}/schedules"), ("GET", f"/jobs/{_GUID}/schedules"),
    ("GET", f"/jobs/{_GUID}/schedules/{_GUID}"), ("PATCH", f"/jobs/{_GUID}/schedules/{_GUID}"),
    ("DELETE", f"/jobs/{_GUID}/schedules/{_GUID}"), ("GET", f"/jobs/{_GUID}/schedules/{_GUID}/history"),
    ("GET", f"/jobs/{_GUID}/schedules/{_GUID}/why"), ("POST", f"/jobs/{_GUID}/schedules/{_GUID}/actions/pause"),
    ("POST", "/calls?app_guid=x"), ("GET", "/calls?space_guid=x"), ("GET", f"/calls/{_GUID}"),
    ("GET", f"/executions/{_GUID}"), ("POST", f"/executions/{_GUID}/actions/cancel"),
    ("GET", "/schedules?space_guid=x"), ("POST", "/schedules/validate"), ("GET", "/scheduler-time-zones"),
    ("GET", "/audit-events"), ("GET", "/orphans"), ("POST", "/orphans/delete"),
    ("GET", "/nothing/here"), ("PUT", "/jobs"), ("POST", "/"), ("DELETE", "/"), ("GET", "/jobs/"), ("GET", "/%2F"),
]  # fmt: skip


def test_the_root_needs_no_token(api: Api) -> None:
    # checklist 63
    answer = api.get("/", user=NOBODY)
    assert (answer.status_code, answer.json) == (200, {})


def test_every_other_path_needs_a_token_whether_it_exists_or_not(api: Api) -> None:
    # checklist 64, 73
    for method, path in _ROUTES:
        answer = api.ask(method, path, user=NOBODY)
        assert answer.status_code == 401, f"{method} {path}"
        assert codes_of(answer) == ["unauthorized"]
        assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("scheme", ["bearer", "Bearer"])
def test_the_scheme_may_be_written_either_way(api: Api, uaa: StandInUaa, scheme: str) -> None:
    # checklist 65, 66
    assert api.get("/scheduler-time-zones", token=f"{scheme} {uaa.token()}").status_code == 200


@pytest.mark.parametrize(
    "wish",
    [
        {"seconds": -1},
        {"algorithm": "none"},
        {"algorithm": "HS256"},
        {"refresh": True},
        {"claims": {"aud": ["openid"]}},
        {"claims": {"iss": "https://elsewhere.example.com"}},
        {"claims": {"user_id": "somebody else"}},
    ],
    ids=str,
)
def test_a_token_that_is_not_what_it_should_be_is_refused(api: Api, uaa: StandInUaa, wish: dict[str, Any]) -> None:
    # checklist 67, 72
    assert api.get("/scheduler-time-zones", token=f"bearer {uaa.token(**wish)}").status_code == 401


@pytest.mark.parametrize(
    "header", ["bearer", "bearer x", "bearer a.b.c", "nonsense", "Basic YnJva2VyOmEtYnJva2VyLXBhc3N3b3Jk"]
)
def test_a_header_that_is_no_token_is_refused(api: Api, header: str) -> None:
    # checklist 67, 68
    assert api.get("/scheduler-time-zones", token=header).status_code == 401


def test_a_revoked_token_is_refused_at_once(api: Api, uaa: StandInUaa) -> None:
    # checklist 67, 70
    token = uaa.token()
    assert api.get("/scheduler-time-zones", token=f"bearer {token}").status_code == 200
    uaa.revoke(token)
    assert api.get("/scheduler-time-zones", token=f"bearer {token}").status_code == 401


def test_a_key_may_be_rotated_under_way(api: Api, uaa: StandInUaa) -> None:
    old = uaa.token()
    assert api.get("/scheduler-time-zones", token=f"bearer {old}").status_code == 200
    uaa.rotate_keys(keep_old=True)
    assert api.get("/scheduler-time-zones", token=f"bearer {uaa.token()}").status_code == 200
    assert api.get("/scheduler-time-zones", token=f"bearer {old}").status_code == 200
    uaa.rotate_keys(show_new=False)
    assert api.get("/scheduler-time-zones", token=f"bearer {uaa.token()}").status_code == 401


def test_a_clients_token_is_refused_even_with_the_admin_scope(api: Api, uaa: StandInUaa) -> None:
    # checklist 69
    token = uaa.client_token(scopes=["cloud_controller.admin", "openid"])
    for method, path in _ROUTES:
        assert api.ask(method, path, token=f"bearer {token}").status_code == 401, f"{method} {path}"


@pytest.mark.parametrize("kind", ["unavailable", "server_error", "cut", "rate_limited"])
def test_without_uaas_word_nobody_comes_in(api: Api, uaa: StandInUaa, kind: str) -> None:
    # checklist 71
    token = f"bearer {uaa.admin_token()}"
    uaa.fault(kind, path="/userinfo")
    answer = api.get("/scheduler-time-zones", token=token)
    assert answer.status_code == 401


def test_a_slow_uaa_is_not_waited_for_without_end(api: Api, uaa: StandInUaa) -> None:
    # checklist 71
    token = f"bearer {uaa.admin_token()}"
    uaa.fault("slow", path="/userinfo", seconds=4, count=1)
    assert api.get("/scheduler-time-zones", token=token).status_code == 401


@pytest.mark.parametrize("kind", ["job", "call"])
def test_a_developer_may_do_everything_in_the_space(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 74
    work = api.create(kind, app.guid)
    path = f"/{kind}s/{work['guid']}"
    schedule = api.schedule(path)
    assert api.get(path).status_code == 200
    assert api.post(f"{path}/execute").status_code == 201
    assert api.get(f"{path}/history").status_code == 200
    assert api.delete(f"{path}/schedules/{schedule['guid']}").status_code == 204
    assert api.delete(path).status_code == 204


@pytest.mark.parametrize("user", [seed.MANAGER, seed.AUDITOR, seed.STRANGER])
@pytest.mark.parametrize("kind", ["job", "call"])
def test_nobody_but_developers_has_access(api: Api, app: MadeApp, kind: str, user: str) -> None:
    # checklist 75, 76, 80, 81, 82, 83, 84
    body = {"name": "n", "command": "c", "url": "https://example.com", "auth_header": "x"}
    creating = api.post(f"/{kind}s?app_guid={app.guid}", body, user=user)
    listing = api.get(f"/{kind}s?space_guid={app.space_guid}", user=user)
    for answer in (creating, listing, api.get(f"/schedules?space_guid={app.space_guid}", user=user)):
        assert answer.status_code == 403
        assert codes_of(answer) == ["forbidden"]
    work = api.create(kind, app.guid)
    assert api.get(f"/{kind}s/{work['guid']}", user=user).status_code == 404


@pytest.mark.parametrize("kind", ["job", "call"])
def test_an_admin_has_access_everywhere_without_any_role(api: Api, other_app: MadeApp, kind: str) -> None:
    # checklist 77
    body = {"name": "n", "command": "c", "url": "https://example.com", "auth_header": "x"}
    created = api.post(f"/{kind}s?app_guid={other_app.guid}", body, user=seed.ADMIN)
    work = content_of(created, 201)
    assert api.get(f"/{kind}s/{work['guid']}", user=seed.ADMIN).status_code == 200
    assert api.get(f"/{kind}s?space_guid={other_app.space_guid}", user=seed.ADMIN).status_code == 200
    assert api.get(f"/{kind}s/{work['guid']}").status_code == 404


def test_a_withdrawn_role_takes_effect_at_once(api: Api, app: MadeApp, cc: StandInController) -> None:
    # checklist 78
    path = f"/jobs/{api.create_job(app.guid)['guid']}"
    assert api.get(path).status_code == 200
    cc.withdraw(seed.DEVELOPER)
    assert api.get(path).status_code == 404
    assert api.get(f"/jobs?space_guid={app.space_guid}").status_code == 403
    cc.grant(seed.DEVELOPER)
    assert api.get(path).status_code == 200
    assert len(cc.requests(path="/v3/roles")) >= 4


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "server_error"},
        {"kind": "unavailable"},
        {"kind": "rate_limited"},
        {"kind": "cut"},
        {"kind": "status", "status": 200, "body": "no JSON", "content_type": "application/json"},
        {"kind": "status", "status": 200, "body": '{"pagination":{}}', "content_type": "application/json"},
        {"kind": "status", "status": 200, "body": "[]", "content_type": "application/json"},
    ],
    ids=str,
)
def test_a_role_that_cannot_be_looked_up_is_none(
    api: Api, app: MadeApp, cc: StandInController, fault: dict[str, Any]
) -> None:
    # checklist 79
    path = f"/jobs/{api.create_job(app.guid)['guid']}"
    cc.fault(path="/v3/roles", **fault)
    assert api.get(path).status_code == 404
    assert api.get(f"/jobs?space_guid={app.space_guid}").status_code == 403
    assert api.get("/scheduler-time-zones").status_code == 403


@pytest.mark.parametrize("path", ["/jobs", "/calls", "/schedules", "/jobs?space_guid=", "/calls?space_guid="])
@pytest.mark.parametrize("user", [seed.DEVELOPER, seed.ADMIN])
def test_nobody_may_list_without_naming_a_space(api: Api, path: str, user: str) -> None:
    # checklist 85
    assert api.get(path, user=user).status_code == 403


def _paths(kind: str, guid: str, schedule: str) -> list[tuple[str, str, Any]]:
    one = f"/{kind}s/{guid}"
    its = f"{one}/schedules/{schedule}"
    return [
        ("GET", one, None),
        ("PATCH", one, {"name": "x"}),
        ("DELETE", one, None),
        ("POST", f"{one}/execute", None),
        ("GET", f"{one}/history", None),
        ("GET", f"{one}/schedules", None),
        ("POST", f"{one}/schedules", {"expression": "0 0 * * *"}),
        ("GET", its, None),
        ("PATCH", its, {"enabled": False}),
        ("DELETE", its, None),
        ("GET", f"{its}/history", None),
        ("GET", f"{its}/why?at=2027-01-01T00:00:00Z", None),
        *[("POST", f"{its}/actions/{action}", None) for action in ("pause", "resume", "trigger", "revalidate")],
    ]


@pytest.mark.parametrize("kind", ["job", "call"])
def test_what_is_somebody_elses_looks_as_if_it_did_not_exist(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 86, 87
    guid = api.create(kind, app.guid)["guid"]
    schedule = api.schedule(f"/{kind}s/{guid}")["guid"]
    unknown = _paths(kind, str(uuid4()), str(uuid4()))
    for (method, path, body), (_, nowhere, _) in zip(_paths(kind, guid, schedule), unknown, strict=True):
        foreign = api.ask(method, path, body, user=seed.STRANGER)
        assert foreign.status_code == 404, path
        assert foreign.json == api.ask(method, nowhere, body).json
    execution = content_of(api.post(f"/{kind}s/{guid}/execute"), 201)["guid"]
    for path in (f"/executions/{execution}", f"/executions/{uuid4()}"):
        foreign = api.get(path, user=seed.STRANGER)
        assert (foreign.status_code, errors_of(foreign)[0]["message"]) == (404, "there is no such execution")
    assert api.post(f"/executions/{execution}/actions/cancel", user=seed.STRANGER).status_code == 404
    assert api.get(f"/{kind}s/{guid}").status_code == 200


def test_the_space_of_the_creation_counts_and_not_where_the_app_is_now(
    api: Api, app: MadeApp, other_app: MadeApp, engine: Engine
) -> None:
    # checklist 88
    mine, moved = api.create_job(app.guid, name="mine"), api.create_job(app.guid, name="moved")
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE jobs SET app_guid = :app WHERE guid = :guid"), {"app": other_app.guid, "guid": mine["guid"]}
        )
        connection.execute(
            text("UPDATE jobs SET space_guid = :space WHERE guid = :guid"),
            {"space": other_app.space_guid, "guid": moved["guid"]},
        )
    assert api.get(f"/jobs/{mine['guid']}").status_code == 200
    assert api.get(f"/jobs/{moved['guid']}").status_code == 404


@pytest.mark.parametrize(("kind", "other"), [("job", "job"), ("call", "call"), ("job", "call"), ("call", "job")])
def test_a_schedule_is_only_found_under_its_own_job_or_call(api: Api, app: MadeApp, kind: str, other: str) -> None:
    # checklist 89, 90, 91
    owner, stranger = api.create(kind, app.guid, name="owner"), api.create(other, app.guid, name="other")
    schedule = api.schedule(f"/{kind}s/{owner['guid']}")["guid"]
    wrong = f"/{other}s/{stranger['guid']}/schedules/{schedule}"
    crossed = f"/{other}s/{owner['guid']}/schedules/{schedule}"
    for path in (wrong, *([crossed] if kind != other else [])):
        assert api.delete(path).status_code == 404
        assert api.get(f"{path}/history").status_code == 404
        assert api.get(path).status_code == 404
        assert api.patch(path, {"enabled": False}).status_code == 404
        assert api.post(f"{path}/actions/trigger").status_code == 404
    assert api.get(f"/{kind}s/{owner['guid']}/schedules/{schedule}").status_code == 200


@pytest.mark.parametrize(
    ("user", "status"),
    [(seed.DEVELOPER, 200), (seed.MANAGER, 200), (seed.ADMIN, 200), (seed.AUDITOR, 403), (seed.STRANGER, 403)],
)
def test_time_zones_and_bare_expressions_are_for_developers_and_managers_of_any_space(
    api: Api, cc: StandInController, user: str, status: int
) -> None:
    # checklist 92, 93, 94
    assert api.get("/scheduler-time-zones", user=user).status_code == status
    assert api.post("/schedules/validate", {"expression": "0 0 * * *"}, user=user).status_code == status


@pytest.mark.parametrize("kind", ["job", "call"])
def test_validating_for_a_job_or_call_asks_about_its_space(api: Api, app: MadeApp, kind: str) -> None:
    # checklist 95
    guid = api.create(kind, app.guid)["guid"]
    for body in ({"expression": "0 0 * * *"}, {}):
        wish = {**body, "ref_type": kind, "ref_guid": guid}
        assert api.post("/schedules/validate", wish).status_code == 200
        for user in (seed.STRANGER, seed.MANAGER):
            foreign = api.post("/schedules/validate", wish, user=user)
            assert foreign.status_code == 404
            assert codes_of(foreign) == ["ref_not_found"]

"""Calls: what is stored, what is shown, and what is never shown."""

import logging
from typing import Any
from uuid import uuid4

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import Engine, text

from scheduler.domain.states import RefType
from scheduler.store.claims import Claimant, claim
from scheduler.store.sealing import Seal
from scheduler_local import seed
from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, codes_of, content_of, fields_of, resources_of

_KEY = Fernet.generate_key().decode()
_SECRET = "bearer-of-a-well-kept-secret"
_FIELDS = {"guid", "name", "url", "created_at", "updated_at", "app_guid", "space_guid"}


@pytest.fixture(params=["sealed", "plain"])
def variables(request: pytest.FixtureRequest) -> dict[str, str]:
    return {"SCHEDULER_ENCRYPTION_KEYS": _KEY} if request.param == "sealed" else {}


def test_a_new_call_is_answered_without_its_secret(api: Api, app: MadeApp) -> None:
    # checklist 96, 111
    call = api.create_call(app.guid, name="hook", url="https://example.com/hook?a=b")
    assert set(call) >= _FIELDS
    assert "auth_header" not in call
    assert (call["name"], call["url"]) == ("hook", "https://example.com/hook?a=b")
    assert (call["method"], call["timeout_seconds"], call["follow_redirects"]) == ("POST", 30, 5)
    assert call["retry"]["max_attempts"] == 1
    assert content_of(api.get(f"/calls/{call['guid']}")) == call


@pytest.mark.parametrize("field", ["name", "url", "auth_header"])
@pytest.mark.parametrize("blank", ["", "   ", None])
def test_a_blank_field_is_refused(api: Api, app: MadeApp, field: str, blank: str | None) -> None:
    # checklist 110
    body = {"name": "n", "url": "https://example.com", "auth_header": "x", field: blank}
    answer = api.post(f"/calls?app_guid={app.guid}", body)
    assert answer.status_code == 422
    assert fields_of(answer) == [field]


def test_what_the_plugin_sends_as_a_secret_is_taken(api: Api, app: MadeApp) -> None:
    # checklist 112
    api.create_call(app.guid, auth_header="default")


@pytest.mark.parametrize("user", [seed.DEVELOPER, seed.ADMIN])
def test_the_secret_is_in_no_answer_and_in_no_log_line(
    api: Api, app: MadeApp, user: str, caplog: pytest.LogCaptureFixture
) -> None:
    # checklist 50, 96
    caplog.set_level(logging.DEBUG)
    headers = {"X-Api-Key": f"{_SECRET}-2", "X-Plain": "shown"}
    call = api.create_call(app.guid, auth_header=_SECRET, headers=headers)
    path = f"/calls/{call['guid']}"
    assert (call["headers"], call["secret_headers"]) == ({"X-Plain": "shown"}, ["X-Api-Key"])
    wish = {"ref_type": "call", "ref_guid": call["guid"], "expression": "0 0 * * *"}
    answers = [
        api.get(path, user=user),
        api.get(f"/calls?space_guid={app.space_guid}", user=user),
        api.patch(path, {"auth_header": f"{_SECRET}-3", "name": "other"}, user=user),
        api.patch(path, {"auth_header": f"{_SECRET}\n"}, user=user),
        api.post(f"/calls?app_guid={app.guid}", {"name": "other", "url": "x", "auth_header": _SECRET}, user=user),
        api.post(
            f"/calls?app_guid={app.guid}", {"name": "other", "url": "https://x", "auth_header": _SECRET}, user=user
        ),
        api.post(f"{path}/execute", user=user),
        api.get(f"{path}/history", user=user),
        api.post("/schedules/validate", wish, user=user),
        api.get(f"/audit-events?space_guid={app.space_guid}", user=user),
    ]
    shown = "".join(answer.text for answer in answers) + caplog.text
    assert _SECRET not in shown
    assert "shown" in shown
    assert api.authorization(user).split()[1] not in caplog.text


def test_the_stored_secret_is_what_a_runner_gets(
    api: Api, app: MadeApp, engine: Engine, variables: dict[str, str]
) -> None:
    # checklist 97
    call = api.create_call(app.guid, auth_header=_SECRET, headers={"X-Api-Key": "k"})
    content_of(api.patch(f"/calls/{call['guid']}", {"name": "renamed"}))
    execution = content_of(api.post(f"/calls/{call['guid']}/execute"), 201)
    with engine.begin() as connection:
        stored = connection.execute(text("SELECT auth_header, headers FROM calls")).one()
        assert (_SECRET in stored.auth_header) is not bool(variables)
        claimant = Claimant(runner=uuid4(), token=uuid4())
        keys = [key for key in variables.values() if key]
        (claimed,) = claim(connection, RefType.CALL, [execution["guid"]], claimant, Seal(keys))
    assert claimed.work is not None
    assert claimed.work.request.auth_header == _SECRET  # type: ignore[union-attr]
    assert claimed.work.request.headers == {"X-Api-Key": "k"}  # type: ignore[union-attr]


def test_all_options_are_stored_and_shown(api: Api, app: MadeApp) -> None:
    options: dict[str, Any] = {
        "method": "PUT",
        "headers": {"X-Plain": "yes"},
        "body": '{"a": "b"}\n',
        "connect_timeout_seconds": 0.5,
        "timeout_seconds": 900,
        "success_statuses": ["2xx", "404"],
        "follow_redirects": 0,
        "retry": {
            "max_attempts": 5,
            "backoff_seconds": 0.5,
            "max_backoff_seconds": 10,
            "max_age_seconds": 60,
            "retry_on": ["timeout", "5xx", "429", "runner_lost", "connect_error"],
        },
    }
    call = api.create_call(app.guid, **options)
    assert {name: call[name] for name in options} == options
    assert resources_of(api.get(f"/calls?space_guid={app.space_guid}")) == [call]


def test_a_change_merges_retries_and_replaces_headers(api: Api, app: MadeApp) -> None:
    call = api.create_call(app.guid, headers={"A": "1", "B": "2"}, retry={"max_attempts": 3, "backoff_seconds": 9})
    path = f"/calls/{call['guid']}"
    changed = content_of(api.patch(path, {"headers": {"C": "3"}, "retry": {"max_attempts": 4}, "method": "GET"}))
    assert changed["headers"] == {"C": "3"}
    assert (changed["retry"]["max_attempts"], changed["retry"]["backoff_seconds"]) == (4, 9)
    assert changed["method"] == "GET"
    back = content_of(api.patch(path, {"headers": None, "retry": None, "method": None}))
    assert (back["headers"], back["retry"]["max_attempts"], back["method"]) == ({}, 1, "POST")
    assert codes_of(api.patch(path, {"url": None})) == ["invalid_field"]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"url": "/relative"}, "url"),
        ({"url": "example.com"}, "url"),
        ({"url": "ftp://example.com"}, "url"),
        ({"url": "https://"}, "url"),
        ({"url": "https://user:secret@example.com/"}, "url"),
        ({"url": "https://user@example.com/"}, "url"),
        ({"url": "https://example.com:0/"}, "url"),
        ({"url": "https://example.com:99999/"}, "url"),
        ({"url": "https://[::1"}, "url"),
        ({"url": "https://exa mple.com/"}, "url"),
        ({"url": "https://example.com\\@evil.example.com/"}, "url"),
        ({"url": f"https://example.com/{'x' * 2_048}"}, "url"),
        ({"auth_header": "a\r\nX-Injected: yes"}, "auth_header"),
        ({"auth_header": "é"}, "auth_header"),
        ({"auth_header": "x" * 4_097}, "auth_header"),
        ({"method": "TRACE"}, "method"),
        ({"method": "post"}, "method"),
        ({"headers": {"": "x"}}, "headers"),
        ({"headers": {"a b": "x"}}, "headers.a b"),
        ({"headers": {"A": "x\n"}}, "headers.A"),
        ({"headers": {"A": 1}}, "headers.A"),
        ({"headers": {"Host": "x"}}, "headers.Host"),
        ({"headers": {"authorization": "x"}}, "headers.authorization"),
        ({"headers": {"X-Scheduler-Attempt": "x"}}, "headers.X-Scheduler-Attempt"),
        ({"headers": {"A": "1", "a": "2"}}, "headers"),
        ({"headers": {f"A{number}": "" for number in range(51)}}, "headers"),
        ({"headers": []}, "headers"),
        ({"body": "x" * 65_537}, "body"),
        ({"timeout_seconds": 901}, "timeout_seconds"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": "30"}, "timeout_seconds"),
        ({"connect_timeout_seconds": True}, "connect_timeout_seconds"),
        ({"success_statuses": []}, "success_statuses"),
        ({"success_statuses": ["600"]}, "success_statuses.0"),
        ({"success_statuses": "2xx"}, "success_statuses"),
        ({"follow_redirects": 21}, "follow_redirects"),
        ({"retry": {"max_attempts": 0}}, "retry.max_attempts"),
        ({"retry": {"retry_on": ["sometimes"]}}, "retry.retry_on.0"),
        ({"retry": 3}, "retry"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_bad_field_is_named(api: Api, app: MadeApp, wrong: dict[str, Any], field: str) -> None:
    body = {"name": "n", "url": "https://example.com", "auth_header": "x", **wrong}
    answer = api.post(f"/calls?app_guid={app.guid}", body)
    assert answer.status_code == 422
    assert fields_of(answer)[0] in {field, f"{field}."}
    assert resources_of(api.get(f"/calls?space_guid={app.space_guid}")) == []

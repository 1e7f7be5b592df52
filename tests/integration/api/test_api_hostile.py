"""Input from people who mean no good, or whose programs do not: a clear 4xx, or stored exactly as it was sent."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from scheduler_local.testing import MadeApp
from tests.fixtures.api import Api, codes_of, content_of, fields_of, resources_of

_GUID = "00000000-0000-7000-8000-000000000000"
_ODD_VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 1e308, 10**400, "", " ", "\0", "\n", "x" * 10_000, "💣", "\u202eabc", "\ufeff",
    "\ud800", [], [[]], {}, {"a": {"b": {}}}, ["x"] * 1_000, "2027-13-45T99:99:99Z", "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z", "' OR 1=1 --", "${jndi:ldap://x}", "%2F..%2F",
]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["x" * 255, "💣 emoji", "\u202ertl שלום", "a%2Fb", "../../etc", "' OR 1=1 --", "<script>", " spaces ", "日本語",
     "e\u0301", "\u00a0", "a\u2028b"],
    ids=ascii,
)  # fmt: skip
def test_a_name_is_stored_exactly_as_it_was_sent(api: Api, app: MadeApp, name: str) -> None:
    if not name.strip():
        assert fields_of(api.post(f"/jobs?app_guid={app.guid}", {"name": name, "command": "c"})) == ["name"]
        return
    job = api.create_job(app.guid, name=name)
    assert job["name"] == name
    assert content_of(api.get(f"/jobs/{job['guid']}"))["name"] == name


@pytest.mark.parametrize(
    "name", ["x" * 256, "x" * 10_000, "a\0b", "\n", "a\tb", "\x7f", "\x1b[31mred", "a\r\nb", "", 5, [], {}], ids=ascii
)
def test_a_name_that_is_none_is_refused_and_nothing_is_made(api: Api, app: MadeApp, name: Any) -> None:
    answer = api.post(f"/jobs?app_guid={app.guid}", {"name": name, "command": "c"})
    assert answer.status_code == 422
    assert fields_of(answer) == ["name"]
    assert resources_of(api.get(f"/jobs?space_guid={app.space_guid}")) == []


@pytest.mark.parametrize(
    "command", ["echo $(rm -rf /)", "a\nb\n", "`id`; \"'\\", "\tindented", "x" * 4_096, "\x1b[31m"]
)
def test_a_command_is_stored_exactly_as_it_was_sent(api: Api, app: MadeApp, command: str) -> None:
    assert api.create_job(app.guid, command=command)["command"] == command


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"name":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "bad_request"),
        (b'{"name":"n","command":"c","x":' + b'{"a":' * 40 + b"1" + b"}" * 40 + b"}", "invalid_field"),
        (b'{"name":"n","command":"c","x":"\\u0000"}', "invalid_field"),
        (b'{"name":"n","command":"c","x":["\\ud800"]}', "invalid_field"),
        (b'{"name":"n","command":"c","\\u0000":1}', "invalid_field"),
        (b'{"name":"n","command":"c","x":1e999}', "invalid_field"),
        (b'{"name":"n","command":"c","x":' + b"9" * 10_000 + b"}", "bad_request"),
        (b'{"name":"n","command":"c","x":Infinity}', "bad_request"),
        (b'{"name":"n","command":"c"}\0', "bad_request"),
        ('{"name":"é"}'.encode("latin-1"), "bad_request"),
        ('{"name":"n","command":"c"}'.encode("utf-16"), "bad_request"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_json_that_nobody_could_store_is_refused(api: Api, app: MadeApp, body: bytes, code: str) -> None:
    answer = api.post(f"/jobs?app_guid={app.guid}", data=body)
    assert answer.status_code == 422
    assert codes_of(answer) == [code]
    assert resources_of(api.get(f"/jobs?space_guid={app.space_guid}")) == []


def _bodies() -> Iterator[tuple[str, str, dict[str, Any], str]]:
    job = {"name": "n", "command": "c"}
    call = {"name": "n", "url": "https://example.com", "auth_header": "x"}
    schedule = {"expression": "0 0 * * *"}
    yield from (("POST", "/jobs?app_guid={app}", job, name) for name in (
        "name", "command", "disk_in_mb", "memory_in_mb", "log_rate_in_bps", "pass_context", "unknown"))  # fmt: skip
    yield from (("POST", "/calls?app_guid={app}", call, name) for name in (
        "name", "url", "auth_header", "method", "headers", "body", "connect_timeout_seconds", "timeout_seconds",
        "success_statuses", "follow_redirects", "retry"))  # fmt: skip
    yield from (("POST", "{job}/schedules", schedule, name) for name in (
        "expression", "expression_type", "enabled", "time_zone", "day_match", "on_gap", "on_fold", "misfire", "overlap",
        "start_deadline_seconds", "delete_after_run", "start_time", "end_time", "max_runs", "metadata"))  # fmt: skip
    yield from (("PATCH", "{job}", {}, name) for name in ("name", "command", "disk_in_mb", "pass_context"))
    yield from (("PATCH", "{schedule}", {}, name) for name in ("expression", "misfire", "metadata", "enabled"))
    yield from (("POST", "{schedule}/actions/" + action, {}, name) for action, name in (
        ("pause", "note"), ("pause", "until"), ("resume", "missed"), ("trigger", "trigger_id")))  # fmt: skip
    yield from (("POST", "/schedules/validate", schedule, name) for name in (
        "expression", "ref_type", "ref_guid", "next", "prev", "from", "expression_type", "time_zone"))  # fmt: skip


@pytest.mark.parametrize(("method", "path", "body", "field"), list(_bodies()), ids=lambda value: str(value)[:40])
def test_no_value_of_any_field_makes_us_fail(
    api: Api, app: MadeApp, method: str, path: str, body: dict[str, Any], field: str
) -> None:
    job = f"/jobs/{api.create_job(app.guid, name='there')['guid']}"
    schedule = f"{job}/schedules/{api.schedule(job)['guid']}"
    where = path.format(app=app.guid, job=job, schedule=schedule)
    for number, value in enumerate(_ODD_VALUES):
        wish = {**body, "name": f"name {number}"} if "name" in body else dict(body)
        data = json.dumps({**wish, field: value}).encode()
        answer = api.ask(method, where, data=data)
        assert answer.status_code < 500, f"{field}={value!r}: {answer.text}"
        if answer.status_code == 422 and codes_of(answer)[0] in {"invalid_field", "missing_field"}:
            assert fields_of(answer)[0].split(".")[0] == field  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "path",
    ["/jobs/{}", "/jobs/{}/history", "/jobs/{}/schedules/" + _GUID, f"/jobs/{_GUID}/schedules/{{}}", "/calls/{}",
     "/executions/{}", f"/jobs/{_GUID}/schedules/{{}}/actions/pause", "/{}"],
)  # fmt: skip
def test_no_path_makes_us_fail(api: Api, path: str) -> None:
    odd = [
        "x",
        "..",
        "%00",
        "%2F",
        "%FF",
        "💣",
        "a" * 3_000,
        _GUID.upper(),
        "{" + _GUID + "}",
        "0",
        "-1",
        "*",
        "%25",
        "'",
    ]
    for value in odd:
        answer = api.get(path.format(value if value.startswith("%") else quote(value, safe="%")))
        assert answer.status_code in {404, 405}, f"{value!r}: {answer.status_code}"


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/jobs", ("space_guid", "page", "per_page")),
        ("/schedules", ("space_guid", "state", "enabled", "q", "page")),
        ("/audit-events", ("space_guid", "target_guid", "actor_guid", "action", "since", "until", "before", "after")),
        ("{job}/history", ("state", "trigger", "since", "until", "before", "after", "page", "per_page")),
        ("{job}/schedules", ("page", "per_page")),
        ("{schedule}/why", ("at",)),
        ("{schedule}/history", ("page", "since")),
    ],
)
def test_no_query_makes_us_fail(api: Api, app: MadeApp, path: str, names: tuple[str, ...]) -> None:
    job = f"/jobs/{api.create_job(app.guid)['guid']}"
    where = path.format(job=job, schedule=f"{job}/schedules/{api.schedule(job)['guid']}")
    odd = ["", "%00", "%FF%FE", "x" * 4_000, "-1", "0", "1e9", "9" * 400, "1;2", ",,,", "%F0%9F%92%A3", "'", "null",
           "%u0000", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59"]  # fmt: skip
    for name in names:
        for value in odd:
            answer = api.get(f"{where}?space_guid={app.space_guid}&{name}={value}", user="admin")
            assert answer.status_code < 500, f"{name}={value[:40]}: {answer.text}"


@pytest.mark.parametrize(
    "headers",
    [{"X-Request-Id": "a\tb"}, {"Content-Type": "application/json; charset=nonsense"}, {"Content-Length": "5"},
     {"Accept": "text/html"}, {"Content-Encoding": "gzip"}, {"Host": "evil.example.com"}, {"Host": "a b"},
     {"Range": "bytes=0-1"}, {"Transfer-Encoding": "chunked"}, {"Cookie": "x" * 4_000}, {"Expect": "100-continue"}],
    ids=str,
)  # fmt: skip
def test_no_header_makes_us_fail(api: Api, app: MadeApp, headers: dict[str, str]) -> None:
    answer = api.get(f"/jobs?space_guid={app.space_guid}&per_page=1", headers=headers)
    assert answer.status_code < 500

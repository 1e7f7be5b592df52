"""`sch calls`: what differs from jobs."""

from pathlib import Path

import pytest

from tests.integration.cli.conftest import SPACE, Sch
from tests.integration.cli.fake_api import FakeApi
from tests.integration.cli.samples import APP, CALL_GUID, SCHEDULE_GUID, call, execution

URL = "https://example.com/ping"


def test_a_call_is_created_with_the_arguments_of_the_reference(api: FakeApi, sch: Sch) -> None:  # checklist 301
    api.answer("POST", "/calls", call(), status=201)
    done = sch("calls", "create", APP, "ping", URL, "bearer s3cret")
    assert done.code == 0
    assert done.out.startswith(f"Creating call ping for app {APP} as jane...\nOK\n")
    assert api.last().query == {"app_guid": APP}
    assert api.last().json() == {"name": "ping", "url": URL, "auth_header": "bearer s3cret"}
    assert "s3cret" not in done.out + done.err


def test_a_secret_can_be_read_from_standard_input(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", "/calls", call(), status=201)
    done = sch("calls", "create", "ping", "--app", APP, "--url", URL, "--auth-header", "-", stdin="bearer s3cret\n")
    assert done.code == 0
    assert api.last().json()["auth_header"] == "bearer s3cret"


def test_all_options_of_a_call_reach_the_api(api: FakeApi, sch: Sch, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text('{"all": true}\n')
    api.answer("POST", "/calls", call(), status=201)
    options = [
        "--method", "PUT", "--header", "X-Kind: report", "--header", "Accept:*/*", "--body", f"@{tmp_path}/report.json",
        "--connect-timeout", "2.5", "--timeout", "60", "--success-status", "2xx", "--success-status", "404",
        "--follow-redirects", "0", "--retry-attempts", "3", "--retry-backoff", "2", "--retry-max-backoff", "30",
        "--retry-max-age", "600", "--retry-on", "timeout", "--retry-on", "5xx",
    ]  # fmt: skip
    assert sch("calls", "create", APP, "ping", URL, "x", *options).code == 0
    assert api.last().json() == {
        "name": "ping",
        "url": URL,
        "auth_header": "x",
        "method": "PUT",
        "headers": {"X-Kind": "report", "Accept": "*/*"},
        "body": '{"all": true}',
        "connect_timeout_seconds": 2.5,
        "timeout_seconds": 60,
        "success_statuses": ["2xx", "404"],
        "follow_redirects": 0,
        "retry": {
            "max_attempts": 3,
            "backoff_seconds": 2,
            "max_backoff_seconds": 30,
            "max_age_seconds": 600,
            "retry_on": ["timeout", "5xx"],
        },
    }


@pytest.mark.parametrize(
    ("options", "code", "complaint"),
    [
        (["--header", "nonsense"], 2, "--header takes 'NAME: VALUE', not 'nonsense'"),
        (["--body", "@/does/not/exist"], 1, "/does/not/exist cannot be read: No such file or directory"),
        (["--timeout", "0"], 2, "--timeout"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_is_sent(
    api: FakeApi, sch: Sch, options: list[str], code: int, complaint: str
) -> None:
    done = sch("calls", "create", APP, "ping", URL, "x", *options)
    assert done.code == code
    assert complaint in done.err
    assert api.asked == []


def test_a_call_is_changed_in_what_was_given_only(api: FakeApi, sch: Sch) -> None:
    api.answer("PATCH", f"/calls/{CALL_GUID}", call())
    assert sch("calls", "update", CALL_GUID, "--auth-header", "new", "--retry-attempts", "2").code == 0
    assert api.last().json() == {"auth_header": "new", "retry": {"max_attempts": 2}}


def test_calls_are_listed_with_their_urls(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/calls", call())
    done = sch("calls", "all")
    assert done.out.splitlines()[2:] == [
        "name   guid                                   app                                    url",
        f"ping   {CALL_GUID}   {APP}   {URL}",
    ]
    assert done.out.startswith(f"Getting calls in space {SPACE} as jane...\n")


@pytest.mark.parametrize(
    ("words", "method", "path"),
    [
        (("get",), "GET", ""),
        (("execute",), "POST", "/execute"),
        (("del",), "DELETE", ""),
        (("history",), "GET", "/history"),
    ],
)
def test_calls_have_the_commands_of_jobs(
    api: FakeApi, sch: Sch, words: tuple[str], method: str, path: str
) -> None:  # checklist 301
    api.answer_rows("/calls", call(guid=SCHEDULE_GUID, name="other"), call())
    answers = {"/execute": execution(), "/history": {"resources": []}}
    api.answer(method, f"/calls/{CALL_GUID}{path}", answers.get(path, call()))
    assert sch("calls", *words, "ping").code == 0
    assert (api.last().method, api.last().path) == (method, f"/calls/{CALL_GUID}{path}")

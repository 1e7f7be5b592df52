"""What reaches the screen: aligned, harmless, coloured only where somebody can see it."""

import pytest

from tests.integration.cli.conftest import Sch
from tests.integration.cli.fake_api import FakeApi, refusal
from tests.integration.cli.samples import APP, EXECUTION_GUID, JOB_GUID, execution, job

HOSTILE = "\x1b[2J\x1b]0;owned\x07a\r\nb\u202ec\u2028d\x9b31m\x7f"
HARMLESS = r"\x1b[2J\x1b]0;owned\x07a\r\nb\u202ec\u2028d\x9b31m\x7f"


def test_columns_of_wide_and_combining_characters_align(api: FakeApi, sch: Sch) -> None:
    names = ["夜間バックアップ", "nächtlich", "e\u0301te\u0301", "plain"]
    api.answer_rows("/jobs", *(job(name=name) for name in names))
    lines = sch("jobs", "list").out.splitlines()
    assert lines[2].startswith("name               guid")  # sixteen cells and a gap of three
    assert lines[3].startswith("夜間バックアップ   " + JOB_GUID)
    assert lines[4].startswith("nächtlich          " + JOB_GUID)
    assert lines[5].startswith("e\u0301te\u0301                " + JOB_GUID)
    assert lines[6].startswith("plain              " + JOB_GUID)


def test_nothing_that_the_server_sends_can_steer_the_terminal(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job(name=HOSTILE, command=HOSTILE))
    done = sch("jobs", "list")
    assert done.out.count(HARMLESS) == 2
    assert not set(done.out) & set("\x1b\x07\r\u202e\u2028\x9b\x7f")


def test_neither_can_errors_messages_or_what_the_user_types(api: FakeApi, sch: Sch) -> None:
    api.answer("POST", "/jobs", refusal("bad", HOSTILE, field=HOSTILE), status=422)
    api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(state="FAILED" + HOSTILE))
    api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(state="FAILED", message=HOSTILE))
    for done in (
        sch("jobs", "create", APP, HOSTILE, "x"),
        sch("executions", "watch", EXECUTION_GUID),
        sch("jobs", "get", HOSTILE, "--space", HOSTILE),
        sch("jobs", "schedules", "get", JOB_GUID, HOSTILE),
        sch(HOSTILE),
    ):
        assert not set(done.out + done.err) & set("\x1b\x07\r\u202e\u2028\x9b\x7f")


def test_joiners_that_scripts_and_emoji_need_are_left_alone(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job(name="👩\u200d💻"))
    assert "👩\u200d💻" in sch("jobs", "list").out


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"CF_COLOR": "true"}, True),
        ({"CF_COLOR": "TRUE", "NO_COLOR": "1"}, True),
        ({"CF_COLOR": "false"}, False),
        ({"CF_COLOR": "perhaps"}, False),
    ],
)
def test_a_pipe_is_coloured_only_on_request(
    api: FakeApi, sch: Sch, variables: dict[str, str], *, coloured: bool
) -> None:
    api.answer_rows("/jobs", job())
    done = sch("jobs", "list", env=variables)
    assert ("\x1b[1mname   " in done.out) == coloured
    assert ("as \x1b[36;1mjane\x1b[0m..." in done.out) == coloured


def test_json_is_never_coloured(api: FakeApi, sch: Sch) -> None:
    api.answer_rows("/jobs", job())
    done = sch("jobs", "list", "--json", env={"CF_COLOR": "true"})
    assert done.json()["resources"] == [job()]


def test_an_error_under_json_leaves_standard_output_to_json(api: FakeApi, sch: Sch) -> None:
    api.answer("GET", "/jobs", b"<html>", status=502)
    done = sch("jobs", "list", "--json")
    assert (done.code, done.out) == (1, "")
    assert "502 Bad Gateway" in done.err


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/jobs", ("jobs", "list")),
        (f"/jobs/{JOB_GUID}", ("jobs", "get", JOB_GUID)),
        (f"/jobs/{JOB_GUID}/history", ("jobs", "history", JOB_GUID)),
        (f"/jobs/{JOB_GUID}/schedules", ("jobs", "schedules", "list", JOB_GUID)),
        (f"/jobs/{JOB_GUID}/schedules/{JOB_GUID}", ("jobs", "schedules", "get", JOB_GUID, JOB_GUID)),
        (f"/jobs/{JOB_GUID}/schedules/{JOB_GUID}/why", ("jobs", "schedules", "why", JOB_GUID, JOB_GUID, "now")),
        ("/schedules", ("schedules", "list")),
        (f"/executions/{EXECUTION_GUID}", ("executions", "get", EXECUTION_GUID)),
        ("/orphans", ("orphans", "list")),
        ("/audit-events", ("audit",)),
    ],
)
def test_json_of_everything_that_can_be_read_is_the_api_s_own(
    api: FakeApi, sch: Sch, path: str, words: tuple[str, ...]
) -> None:
    body = b'{"resources": [],\t"anything":   {"else": "\xc3\xa4"}}'
    api.answer("GET", path, body)
    done = sch(*words, "--json")
    assert (done.code, done.out, done.err) == (0, body.decode() + "\n", "")

"""`sch` as a process, on a pseudo-terminal and in a pipe."""

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.integration.cli.conftest import SPACE, Sch
from tests.integration.cli.fake_api import FakeApi, collection
from tests.integration.cli.samples import APP, ENDED, EXECUTION_GUID, JOB_GUID, execution, job
from tests.integration.cli.terminal import Terminal

OnTerminal = Callable[..., Terminal]


def test_a_terminal_has_colours_and_bold_headings(api: FakeApi, on_terminal: OnTerminal) -> None:
    api.answer_rows("/jobs", job())
    terminal = on_terminal("jobs", "list")
    assert terminal.wait() == 0
    assert f"Getting jobs in space \x1b[36;1m{SPACE}\x1b[0m as \x1b[36;1mjane\x1b[0m..." in terminal.raw
    assert "\x1b[1mname      guid" in terminal.raw


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"CF_COLOR": "false"}, {"TERM": "dumb"}])
def test_a_terminal_has_no_colours_when_they_are_not_wanted(
    api: FakeApi, on_terminal: OnTerminal, variables: dict[str, str]
) -> None:
    api.answer_rows("/jobs", job())
    terminal = on_terminal("jobs", "list", env=variables)
    assert terminal.wait() == 0
    assert "\x1b" not in terminal.raw


def test_the_last_column_is_cut_to_the_terminal_but_not_to_a_pipe(
    api: FakeApi, on_terminal: OnTerminal, sch_process: Sch
) -> None:
    api.answer_rows("/jobs", job(command="x" * 200))
    terminal = on_terminal("jobs", "list", columns=120)
    assert terminal.wait() == 0
    cut = next(line for line in terminal.text.splitlines() if "xxx" in line)
    assert (len(cut), cut[-1]) == (120, "…")
    assert "x" * 200 in sch_process("jobs", "list").out


@pytest.mark.parametrize(("typed", "deletes"), [("y", True), ("yes", True), ("n", False), ("", False), ("\x04", False)])
def test_deleting_asks_on_a_terminal(api: FakeApi, on_terminal: OnTerminal, typed: str, *, deletes: bool) -> None:
    api.answer("DELETE", f"/jobs/{JOB_GUID}", status=204)
    terminal = on_terminal("jobs", "delete", JOB_GUID)
    terminal.wait_for(f"Really delete the job {JOB_GUID} and its schedules? [yN]: ")
    terminal.type(typed if typed == "\x04" else f"{typed}\n")
    assert terminal.wait() == 0
    assert bool(api.asked) == deletes
    assert ("has not been deleted." in terminal.text) == (not deletes)


@pytest.mark.parametrize("option", ["-f", "--force", "--yes", "-y"])
def test_deleting_does_not_ask_when_told_not_to(api: FakeApi, on_terminal: OnTerminal, option: str) -> None:
    api.answer("DELETE", f"/jobs/{JOB_GUID}", status=204)
    terminal = on_terminal("jobs", "delete", JOB_GUID, option)
    assert terminal.wait() == 0
    assert "Really" not in terminal.text


def test_deleting_orphans_asks_on_a_terminal(api: FakeApi, on_terminal: OnTerminal) -> None:
    terminal = on_terminal("orphans", "del", JOB_GUID, APP)
    terminal.wait_for("Really delete 2 orphans? [yN]: ")
    terminal.type("\n")
    assert terminal.wait() == 0
    assert (api.asked, "Nothing has been deleted." in terminal.text) == ([], True)


def test_waiting_is_one_live_line_on_a_terminal(api: FakeApi, on_terminal: OnTerminal) -> None:
    api.answer("POST", f"/jobs/{JOB_GUID}/execute", execution(), status=201)
    for row in (execution(), execution(state="RUNNING"), execution(**ENDED)):
        api.answer("GET", f"/executions/{EXECUTION_GUID}", row)
    terminal = on_terminal("jobs", "execute", JOB_GUID, "--wait")
    assert terminal.wait() == 0
    assert "\r\x1b[K| PENDING   " in terminal.raw
    assert "\r\x1b[K/ RUNNING   " in terminal.raw
    assert terminal.raw.rstrip().endswith("\x1b[32;1mOK\x1b[0m")


def test_waiting_is_a_line_for_each_state_in_a_pipe(api: FakeApi, sch_process: Sch) -> None:
    rows = (execution(), execution(), execution(state="RUNNING"), execution(state="FAILED", message="no"))
    for row in rows:
        api.answer("GET", f"/executions/{EXECUTION_GUID}", row)
    done = sch_process("executions", "watch", EXECUTION_GUID)
    assert (done.code, done.err) == (1, "The execution ended FAILED: no\n")
    assert done.out.splitlines()[1:3] == ["PENDING", "RUNNING"]
    assert "\x1b" not in done.out


def test_a_wait_that_is_interrupted_says_how_to_go_on(api: FakeApi, on_terminal: OnTerminal) -> None:
    api.answer("GET", f"/executions/{EXECUTION_GUID}", execution(state="RUNNING"))
    terminal = on_terminal("executions", "watch", EXECUTION_GUID)
    terminal.wait_for("RUNNING")
    terminal.interrupt()
    assert terminal.wait() == 130
    assert f"The execution goes on. Look again with: sch executions watch {EXECUTION_GUID}" in terminal.text
    assert "Traceback" not in terminal.text


def test_json_on_a_terminal_is_the_same_json_without_what_could_steer_it(
    api: FakeApi, on_terminal: OnTerminal, sch_process: Sch
) -> None:
    body = '{"resources": [{"name": "a\u009b31m\u202eb\u007f"}]}'
    api.answer("GET", "/jobs", body.encode())
    terminal = on_terminal("jobs", "list", "--json")
    assert terminal.wait() == 0
    assert terminal.text == '{"resources": [{"name": "a\\u009b31m\\u202eb\\u007f"}]}\n'
    assert sch_process("jobs", "list", "--json").out == body + "\n"


def test_a_reader_that_goes_away_is_no_crash(environment: dict[str, str], api: FakeApi) -> None:
    api.answer("GET", "/jobs", collection(*(job(name=f"job-{number}") for number in range(5_000))))
    command = f"{sys.executable} -m sch jobs list | /usr/bin/head -n 1"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    assert done.stdout.startswith("Getting jobs")


def test_a_terminal_without_unicode_shows_escapes_instead_of_failing(api: FakeApi, sch_process: Sch) -> None:
    api.answer_rows("/jobs", job(name="夜"))
    done = sch_process("jobs", "list", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"})
    assert (done.code, "\\u591c" in done.out) == (0, True)


def test_the_reference_s_words_work_as_a_whole(api: FakeApi, sch_process: Sch) -> None:  # checklist 301
    api.answer_rows("/jobs", job())
    api.answer("POST", "/jobs", job(), status=201)
    assert sch_process("jobs", "create", APP, "nightly", "run").code == 0
    assert sch_process("jobs", "all", SPACE).code == 0

"""A developer's and an admin's session with `sch` against the running suite, held against its transcript.

GUIDs, instants and lengths of time are replaced by ever the same ones. SCH_TRANSCRIPT=write writes the transcript anew;
read what has changed before committing it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scheduler_local import seed
from scheduler_local.doctor import Status, doctor
from scheduler_local.testing import RUNNING_FOR_EVER, SUCCEEDED, StandInController, StandInUaa, failed
from tests.fixtures.session import wait_until
from tests.fixtures.suite import Endpoint, StartSuite, Suite
from tests.integration.cli.terminal import Terminal

TRANSCRIPT = Path(__file__).parents[1] / "data" / "sch" / "transcript.txt"
PLACEHOLDERS = (
    (re.compile(r"http://127\.0\.0\.1:\d+"), "http://127.0.0.1:8000"),
    (
        re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        "0193a1b2-0000-7000-8000-000000000001",
    ),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "2027-01-01T00:00:00Z"),
    (re.compile(r"\b\d+(\.\d)? (ms|s)\b"), "4.2 s"),
    (re.compile(r"(?<=\S) {3,}"), "   "),
)


class Shell:
    """Somebody's shell: what is typed and shown there is written down."""

    def __init__(self, suite: Suite, folder: Path) -> None:
        self.transcript: list[str] = []
        self.environment = {
            "PATH": str(folder),
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "no_proxy": "127.0.0.1",
            "SCHEDULER_URL": suite.url,
            "SCHEDULER_TOKEN": f"bearer {suite.token}",
            "SCHEDULER_SPACE": suite.app.space_guid,
        }

    def run(self, *arguments: str, code: int = 0, stdin: str = "") -> str:
        """Run a command in a pipe; return what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "sch", *arguments],
            env=self.environment, input=stdin, capture_output=True, text=True, timeout=90, check=False,
        )  # fmt: skip
        self._write(arguments, done.stdout + done.stderr, done.returncode)
        assert done.returncode == code, f"sch {arguments}: {done.stdout}{done.stderr}"
        return done.stdout

    def run_on_terminal(self, *arguments: str, answer: tuple[str, str] | None = None, code: int = 0) -> str:
        """Run a command on a pseudo-terminal, giving an answer to a question; return what it showed."""
        terminal = Terminal([sys.executable, "-m", "sch", *arguments], self.environment)
        try:
            if answer:
                terminal.wait_for(answer[0])
                terminal.type(f"{answer[1]}\n")
            assert terminal.wait(within=60) == code, terminal.text
        finally:
            terminal.close()
        shown = re.sub(r"\r[|/\\-] [^\r\n]*", "", terminal.text).replace("\r", "")
        self._write(arguments, shown, code)
        return terminal.text

    def guid(self, *arguments: str) -> str:
        """Run a command with --json; return the guid of the thing, or of the first in a list."""
        content = json.loads(self.run(*arguments, "--json"))
        del self.transcript[-1]
        row = content["resources"][0] if "resources" in content else content
        return str(row["guid"])

    def say(self, words: str) -> None:
        """Write a heading into the transcript."""
        self.transcript.append(f"# {words}\n")

    def _write(self, arguments: tuple[str, ...], shown: str, code: int) -> None:
        # How many states one sees while waiting is a matter of luck.
        shown = re.sub(r"^(PENDING|RUNNING)\n", "", shown, flags=re.MULTILINE)
        line = " ".join(f"'{word}'" if not word or set(word) & set(" *?$()'\"") else word for word in arguments)
        end = f"[exit code {code}]\n" if code else ""
        self.transcript.append(f"$ sch {line}\n{shown}{end}")

    def text(self) -> str:
        """Return the transcript with what differs from run to run replaced."""
        text = "\n".join(self.transcript)
        for pattern, placeholder in PLACEHOLDERS:
            text = pattern.sub(placeholder, text)
        return text


@pytest.fixture
def shell(suite: StartSuite, tmp_path: Path) -> Shell:
    return Shell(suite("postgres", SCHEDULER_LIVENESS_SECONDS="10"), tmp_path)


def test_a_session_reads_as_its_transcript(
    shell: Shell, cc: StandInController, uaa: StandInUaa, endpoint: Endpoint
) -> None:  # checklist 290-299, 301
    app = cc.add_app(space=seed.SPACE, name="shop").guid
    _jobs(shell, cc, app)
    _schedules(shell, cc)
    _calls(shell, endpoint, app)
    _timetables(shell)
    _orphans(shell, cc, uaa, app)
    if os.environ.get("SCH_TRANSCRIPT") == "write":
        TRANSCRIPT.parent.mkdir(exist_ok=True)
        TRANSCRIPT.write_text(shell.text(), encoding="utf-8")
    assert shell.text() == TRANSCRIPT.read_text(encoding="utf-8")


def _jobs(shell: Shell, cc: StandInController, app: str) -> None:
    shell.say("Jobs")
    shell.run("jobs", "list")
    shell.run("jobs", "create", app, "nightly", "bin/rails cleanup", "-m", "256M")
    shell.run("jobs", "create", app, "nightly", "again", code=1)
    shell.run_on_terminal("jobs", "list")
    shell.run("jobs", "update", "nightly", "--command", "bin/rails cleanup --all")
    cc.script_tasks(SUCCEEDED)
    shell.run_on_terminal("jobs", "execute", "nightly", "--wait")
    cc.script_tasks(failed("Exited with status 7"))
    shell.run_on_terminal("jobs", "execute", "nightly", "--wait", code=1)
    shell.run("jobs", "history", "nightly", "--state", "FAILED")
    cc.script_tasks(RUNNING_FOR_EVER)
    execution = shell.guid("jobs", "execute", "nightly")
    wait_until(
        lambda: any(task["state"] == "RUNNING" for task in cc.tasks()), within=20, what="the task is running", every=0.1
    )
    shell.run("executions", "cancel", execution)
    shell.run_on_terminal("executions", "watch", execution, code=1)
    shell.run("jobs", "get", "daily", code=1)


def _schedules(shell: Shell, cc: StandInController) -> None:
    shell.say("Schedules")
    cc.script_tasks(SUCCEEDED)
    shell.run("jobs", "schedules", "create", "nightly", "0 2 * * MON-FOO", code=1)
    shell.run("jobs", "schedules", "create", "nightly", "0 2 * * MON-FRI", "-z", "Europe/Berlin", "--overlap", "skip")
    guid = shell.guid("jobs", "schedules", "list", "nightly")
    shell.run_on_terminal("jobs", "schedules", "list", "nightly")
    shell.run("jobs", "schedules", "pause", "nightly", guid, "--note", "stocktaking")
    shell.run("jobs", "schedules", "trigger", "nightly", guid, "--trigger-id", "release-42", "--wait")
    shell.run("jobs", "schedules", "history", "nightly", guid)
    shell.run("jobs", "schedules", "resume", "nightly", guid, "--missed", "run_once")
    shell.run("jobs", "schedules", "update", "nightly", guid, "--misfire", "catch_up", "--overlap", "wait")
    shell.run("jobs", "schedules", "why", "nightly", guid, "2099-01-03T12:00:00Z")
    shell.run("schedules", "list", "-q", "nightly")
    shell.run_on_terminal("jobs", "schedules", "delete", "nightly", guid, answer=("[yN]: ", "no"))
    shell.run_on_terminal("jobs", "schedules", "delete", "nightly", guid, answer=("[yN]: ", "yes"))
    shell.run("jobs", "schedules", "list", "nightly")


def _calls(shell: Shell, endpoint: Endpoint, app: str) -> None:
    shell.say("Calls")
    shell.run("calls", "create", app, "ping", f"{endpoint.url}/ping", "-", "--timeout", "5", stdin="bearer s3cret\n")
    shell.run("calls", "execute", "ping", "--wait")
    assert endpoint.hits[-1].headers["authorization"] == "bearer s3cret"
    shell.run("calls", "update", "ping", "--success-status", "204")
    shell.run("calls", "execute", "ping", "--wait", code=1)
    shell.run("calls", "list")
    shell.run("calls", "delete", "ping", "-f")


def _timetables(shell: Shell) -> None:
    shell.say("Timetables")
    shell.run("validate", "0 0 30 2 *", code=1)
    shell.run("validate", "0 0 1 1 *", "--next", "1")
    shell.run("validate", "--job", "nightly")


def _orphans(shell: Shell, cc: StandInController, uaa: StandInUaa, app: str) -> None:
    shell.say("Administration")
    shell.run("orphans", "list", code=1)
    developer = shell.environment["SCHEDULER_TOKEN"]
    shell.environment["SCHEDULER_TOKEN"] = uaa.client_token()
    shell.run("orphans", "list", code=1)
    shell.run("jobs", "list", code=1)
    shell.environment["SCHEDULER_TOKEN"] = uaa.token(seed.STRANGER)
    shell.run("jobs", "list", code=1)
    shell.environment["SCHEDULER_TOKEN"] = f"Bearer {uaa.admin_token()}"
    job = shell.guid("jobs", "list")
    shell.run("jobs", "schedules", "create", job, "@daily", "--disabled")
    shell.run("audit", "--target", job)
    shell.run("orphans", "list")
    shell.run("orphans", "del", job, code=1)
    cc.remove_app(app)
    shell.run("orphans", "list")
    shell.run_on_terminal("orphans", "del", job, answer=("[yN]: ", "y"))
    shell.environment["SCHEDULER_TOKEN"] = developer
    shell.run("jobs", "list")


def test_the_zones_and_runs_of_the_command_line_are_those_of_the_scheduler(shell: Shell) -> None:  # checklist 307
    suite_zones = subprocess.run(
        [sys.executable, "-c", _GET, "/scheduler-time-zones"], env=shell.environment, capture_output=True, check=True
    ).stdout
    assert json.loads(shell.run("zones", "--json")) == json.loads(suite_zones)["resources"]
    for expression in ("30 2 * * *", "H H(1-5) L * *", "@every 90m"):
        options = ("-z", "Europe/Berlin", "--from", "2027-03-01T00:00:00Z", "--json")
        here = json.loads(shell.run("next", expression, *options, "-n", "40"))
        there = json.loads(shell.run("validate", expression, *options, "--next", "40"))
        assert here["next_runs"] == there["next_runs"]


_GET = (
    "import os, sys, requests; token = os.environ['SCHEDULER_TOKEN']; "
    "print(requests.get(os.environ['SCHEDULER_URL'] + sys.argv[1], headers={'Authorization': token}, timeout=30).text)"
)


def test_the_doctor_finds_nothing_wrong_with_a_running_suite(
    suite: StartSuite, database_url: str, cc: StandInController, uaa: StandInUaa
) -> None:
    suite("postgres")
    variables = {
        "DATABASE_URL": database_url,
        "QUEUE_URL": "postgres",
        "CF_ENDPOINT": cc.url,
        "UAA_ENDPOINT": uaa.url,
        "CLIENT_ID": seed.CLIENT_ID,
        "CLIENT_SECRET": seed.CLIENT_SECRET,
    }
    checks = {check.name: check for check in doctor(variables)}
    assert checks.pop("secrets").status is Status.WARNING
    assert {check.status for check in checks.values()} == {Status.OK}

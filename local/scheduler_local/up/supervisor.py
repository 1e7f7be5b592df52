"""`scheduler up` from its first line to its last."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

from scheduler_local import seed
from scheduler_local.up.banner import banner
from scheduler_local.up.children import Children
from scheduler_local.up.database import database
from scheduler_local.up.state import CannotStartError, State
from scheduler_local.up.suite import Suite
from scheduler_local.up.task_output import show_task_output

_CHECK_SECONDS = 0.5
_TOKEN_SECONDS = 86_400


def run(folder: Path) -> int:
    """Start everything, wait for Ctrl-C, stop everything; return the exit code."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        with State(folder) as state:
            _run(state, stop)
    except CannotStartError as error:
        print(f"FAILED\n{error}", file=sys.stderr)  # noqa: T201 - this is a command
        return 1
    return 0


def _run(state: State, stop: threading.Event) -> None:
    if count := state.end_leftovers():
        _say(f"Ended {count} processes that an earlier run had left.")
    _say("Starting PostgreSQL …")
    with database(state.folder / "postgres") as database_url, _children(state) as children:
        suite = Suite(state.folder, database_url, state.secrets())
        for name, usual, port in suite.moved_ports():
            _say(f"Port {usual} is taken; {name} is on {port}.")
        _say("Starting the stand-ins for Cloud Foundry and the five services …")
        for process in (*suite.stand_ins(), *suite.services()):
            children.start(process.name, process.arguments, process.variables, ready_url=process.ready_url)
        state.remember_processes([child.process.pid for child in children.running])
        children.await_ready()
        _greet(state, suite)
        show_task_output(state.logs / "stand-in-cc.log", stop)
        while not stop.wait(_CHECK_SECONDS):
            children.check()
        _say("\nStopping …")
    _say("Everything has stopped; the data are kept for the next start.")


@contextmanager
def _children(state: State) -> Iterator[Children]:
    children = Children(state.logs)
    try:
        yield children
    finally:
        children.stop()
        state.remember_processes([])


def _greet(state: State, suite: Suite) -> None:
    variables = {
        "SCHEDULER_URL": suite.url("api"),
        "SCHEDULER_TOKEN": _developer_token(suite.url("uaa")),
        "SCHEDULER_SPACE": seed.guid_of("space", seed.SPACE),
        "APP": seed.guid_of("app", seed.APP),
    }
    path = state.write_environment(variables)
    _say(banner(suite, variables, path, state.logs))


def _developer_token(uaa_url: str) -> str:
    """Return a token for a day of trying things out, as `cf oauth-token` would print it."""
    with requests.Session() as session:
        session.trust_env = False
        wish = {"user": seed.DEVELOPER, "seconds": _TOKEN_SECONDS}
        answer = session.post(f"{uaa_url}/_standin/tokens", json=wish, timeout=10)
    answer.raise_for_status()
    return f"bearer {answer.json()['access_token']}"


def _say(words: str) -> None:
    print(words, flush=True)  # noqa: T201 - this is a command

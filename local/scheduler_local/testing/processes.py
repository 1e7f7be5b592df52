"""The stand-ins as processes on ports that the kernel chose."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import requests

from scheduler_local.testing.echo import EchoEndpoint
from scheduler_local.testing.standins import StandInController, StandInUaa
from scheduler_local.testing.waiting import wait_until

_START_SECONDS = 20.0
_STOP_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Start:
    """How to run a stand-in."""

    arguments: Sequence[str] = ()
    log: Path | None = None  # where its output goes; None: to ours
    started: Callable[[int], None] = lambda _pid: None  # told of the process, which leads a group of its own
    ended: Callable[[int], None] = lambda _pid: None


@contextmanager
def start_uaa(start: Start = Start()) -> Iterator[StandInUaa]:
    """Run a UAA on a free port."""
    with _process("scheduler_local.uaa", start, ()) as url:
        uaa = StandInUaa(url, start.log)
        yield uaa
        uaa.close()


@contextmanager
def start_controller(uaa: StandInUaa, start: Start = Start()) -> Iterator[StandInController]:
    """Run a Cloud Controller on a free port that trusts this UAA."""
    with _process("scheduler_local.controller", start, ("--uaa", uaa.url)) as url:
        controller = StandInController(url, start.log)
        yield controller
        controller.close()


@contextmanager
def start_echo(start: Start = Start()) -> Iterator[EchoEndpoint]:
    """Run an endpoint for calls on a free port."""
    with _process("scheduler_local.echo", start, (), health="/") as url:
        echo = EchoEndpoint(url)
        yield echo
        echo.close()


@contextmanager
def _process(module: str, start: Start, arguments: Sequence[str], *, health: str = "/_standin/health") -> Iterator[str]:
    # The socket listens before the process exists, so nobody has to wait for the process, and no port is taken twice.
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener, _output(start.log) as output:
        port, number = listener.getsockname()[1], listener.fileno()
        process = subprocess.Popen(  # noqa: S603  our own module
            [sys.executable, "-m", module, "--fd", str(number), *arguments, *start.arguments],
            pass_fds=[number],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    start.started(process.pid)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url + health, process)
        yield url
    finally:
        _stop(process)
        start.ended(process.pid)


def _output(log: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    return nullcontext() if log is None else log.open("ab")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    with requests.Session() as session:
        session.trust_env = False

        def answers() -> bool:
            if process.poll() is not None:
                raise AssertionError(f"the stand-in ended with status {process.returncode}")
            try:
                return session.get(url, timeout=_START_SECONDS).ok
            except requests.RequestException:
                return False

        wait_until(answers, seconds=_START_SECONDS, what="answer of a stand-in")

"""The suite's processes: started, watched, and stopped in an order in which nothing is lost."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scheduler_local.up.state import CannotStartError

READY_SECONDS = 60.0
STOP_SECONDS = 9.0  # of the ten that Ctrl-C may take


@dataclass
class Child:
    """One process and its log."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    ready_url: str

    def fault(self) -> str:
        """Return the last line of the log, for a message."""
        lines = self.log.read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it printed nothing"


@dataclass
class Children:
    """All of them."""

    logs: Path
    running: list[Child] = field(default_factory=list)

    def start(self, name: str, arguments: Sequence[str], variables: Mapping[str, str], *, ready_url: str) -> None:
        """Start one process; Ctrl-C reaches only us, and we decide who stops when."""
        log = self.logs / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(  # noqa: S603 - our own commands
                [sys.executable, "-m", *arguments],
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.running.append(Child(name, process, log, ready_url))

    def await_ready(self) -> None:
        """Return when every process answers; raises CannotStartError for one that ended or never did."""
        deadline = time.monotonic() + READY_SECONDS
        for child in self.running:
            while not _answers(child.ready_url):
                self.check()
                if time.monotonic() > deadline:
                    raise CannotStartError(f"{child.name} does not become ready; its log is {child.log}")
                time.sleep(0.05)

    def check(self) -> None:
        """Raise CannotStartError if a process has ended."""
        for child in self.running:
            if child.process.poll() is not None:
                raise CannotStartError(f"{child.name} has ended: {child.fault()}\nIts log is {child.log}")

    def stop(self) -> None:
        """Stop all: the services first and together, then what they talk to."""
        services = [child for child in self.running if not child.name.startswith("stand-in")]
        rest = [child for child in self.running if child not in services]
        deadline = time.monotonic() + STOP_SECONDS
        for group, seconds in ((services, STOP_SECONDS - 1), (rest, 1.0)):
            _stop_all(group, min(seconds, max(0.0, deadline - time.monotonic())))
        self.running.clear()


def _stop_all(children: Sequence[Child], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    for child in children:
        child.process.terminate()
    for child in children:
        try:
            child.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(child.process.pid, signal.SIGKILL)
            child.process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:  # noqa: S310 - our own loopback URL
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False

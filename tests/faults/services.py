"""The services as processes that somebody keeps alive, as Cloud Foundry would, and that faults strike."""

import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fixtures.reaper import Reaper

STOP_SECONDS = 10.0  # between SIGTERM and SIGKILL
_LOOK_SECONDS = 0.2
_RESTART_SECONDS = 1.0


@dataclass
class Instance:
    """One process of one service and its restarts. `lock` is held by the fault that is about it."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    reaper: Reaper
    endings: list[str] = field(default_factory=list)  # how it ended when nobody had asked it to
    lock: threading.Lock = field(default_factory=threading.Lock)
    _process: subprocess.Popen[bytes] | None = None
    _wanted: bool = False

    @property
    def service(self) -> str:
        """The service's name, without the number."""
        return self.name.rpartition("-")[0]

    @property
    def admin_port(self) -> int:
        """Where /readyz is."""
        return int(self.environment["ADMIN_PORT"])

    def start(self) -> None:
        """Start the process; whoever wants to know whether it is ready asks."""
        self._wanted = True
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.reaper.watch(self._process.pid, end_with=signal.SIGTERM)

    def kill(self) -> None:
        """Kill the process and its children with SIGKILL."""
        self._wanted = False
        self._signal(signal.SIGKILL)
        self._gone()

    def terminate(self) -> None:
        """End the process in an orderly way, or, if that takes too long, in the other, and note that."""
        self._wanted = False
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.endings.append(f"{self.name} had not ended {STOP_SECONDS:g} s after SIGTERM: {self._last_words()}")
            self.kill()
        else:
            if status != 0:
                self.endings.append(f"{self.name} ended with {status} after SIGTERM: {self._last_words()}")
            self._gone()

    def suspend(self) -> None:
        """Stop the process where it stands."""
        self._signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def ready(self) -> bool:
        """Tell what /readyz says."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def look_after(self) -> None:
        """Start it again if it ended by itself."""
        process = self._process
        if self._wanted and process is not None and process.poll() is not None:
            self.endings.append(f"{self.name} ended by itself with {process.returncode}: {self._last_words()}")
            self._gone()
            time.sleep(_RESTART_SECONDS)
            self.start()

    def _last_words(self) -> str:
        return self.log.read_text(errors="replace")[-600:].strip()

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            return

    def _gone(self) -> None:
        assert self._process is not None
        self._process.wait(STOP_SECONDS)
        self._signal(signal.SIGKILL)  # children that outlived it
        self.reaper.forget(self._process.pid)


class Keeper:
    """Looks after all instances in a thread of its own."""

    def __init__(self, instances: Sequence[Instance]) -> None:
        self._instances = instances
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Look after nobody any more."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            for instance in self._instances:
                if instance.lock.acquire(blocking=False):
                    try:
                        instance.look_after()
                    finally:
                        instance.lock.release()


def python_module(module: str) -> list[str]:
    """Return the command that runs a service's module."""
    return [sys.executable, "-m", module]


def await_all(conditions: Mapping[str, Callable[[], bool]], *, seconds: float) -> list[str]:
    """Wait until all conditions hold; return the names of those that do not in time."""
    deadline = time.monotonic() + seconds
    missing = list(conditions)
    while missing and time.monotonic() < deadline:
        missing = [name for name in missing if not conditions[name]()]
        time.sleep(0.1 if missing else 0.0)
    return missing

"""The services under load, as the processes that they are, and what they cost."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench.servers import Servers
from tests.fixtures.session import free_port, wait_until

READY_SECONDS = 60
_CREDENTIALS = {
    "CF_ENDPOINT": "http://127.0.0.1:1",
    "UAA_ENDPOINT": "http://127.0.0.1:1",
    "CLIENT_ID": "bench",
    "CLIENT_SECRET": "bench",
    "SCHEDULER_CALL_ALLOWED_NETWORKS": "127.0.0.0/8",
    "LOG_LEVEL": "warn",
}


class Running:
    """One process."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", admin_port: int) -> None:
        self.name = name
        self.process = process
        self.psutil = psutil.Process(process.pid)
        self._admin_port = admin_port

    def is_ready(self) -> bool:
        """Tell whether it can work."""
        if self.process.poll() is not None:
            sys.exit(f"{self.name} ended with {self.process.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._admin_port}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


@contextmanager
def services(
    servers: Servers, database_url: str, queue_url: str, names: list[str], variables: Mapping[str, str] = {}
) -> Iterator[list[Running]]:
    """Run these services until the end of the block."""
    running = [
        _start(servers, name, {"DATABASE_URL": database_url, "QUEUE_URL": queue_url, **variables}) for name in names
    ]
    try:
        for service in running:
            wait_until(service.is_ready, within=READY_SECONDS, what=f"{service.name} is ready")
        yield running
    finally:
        for service in running:
            service.process.terminate()
        for service in running:
            service.process.wait(30)
            servers.reaper.forget(service.process.pid)


def _start(servers: Servers, name: str, variables: Mapping[str, str]) -> Running:
    port = free_port()
    log = servers.folder / f"{name}-{port}.log"
    root = Path(__file__).parent.parent
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "scheduler_local.main", name],
            env={
                **os.environ,
                **_CREDENTIALS,
                "ADMIN_PORT": str(port),
                "SCHEDULER_PORT": str(free_port()),
                **variables,
            },
            cwd=root,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    servers.reaper.watch(process.pid, end_with=signal.SIGTERM)
    return Running(name, process, port)


class Meter:
    """CPU seconds by process name between two moments, and proportional memory at the end."""

    def __init__(self, servers: Servers, running: list[Running]) -> None:
        self._roots = {name: [psutil.Process(pid)] for name, pid in servers.pids.items()}
        for service in running:
            self._roots.setdefault(service.name, []).append(service.psutil)
        self._started_at = time.monotonic()
        self._before = self._cpu()

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU seconds that each used since the meter was made."""
        after = self._cpu()
        return {name: round(after[name] - before, 2) for name, before in self._before.items()}

    def elapsed(self) -> float:
        """Return the seconds since the meter was made."""
        return time.monotonic() - self._started_at

    def megabytes(self) -> dict[str, float]:
        """Return the proportional set size of each."""
        return {name: round(sum(map(_pss, _families(roots))) / 2**20, 1) for name, roots in self._roots.items()}

    def _cpu(self) -> dict[str, float]:
        return {name: sum(map(_cpu_of, _families(roots))) for name, roots in self._roots.items()}


def _families(roots: list[psutil.Process]) -> list[psutil.Process]:
    """Return the processes with all that they started; PostgreSQL has one for each connection."""
    return [process for root in roots for process in (root, *root.children(recursive=True))]


def _cpu_of(process: psutil.Process) -> float:
    """Return what the process used, and those of its children that have ended."""
    try:
        times = process.cpu_times()
        return float(times.user + times.system + times.children_user + times.children_system)
    except psutil.NoSuchProcess:
        return 0.0


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0

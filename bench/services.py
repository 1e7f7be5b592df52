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
        self._processes = servers.processes()
        for service in running:
            self._processes.setdefault(service.name, []).append(service.psutil)
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
        return {name: round(sum(map(_pss, processes)) / 2**20, 1) for name, processes in self._processes.items()}

    def _cpu(self) -> dict[str, float]:
        return {name: sum(map(_cpu, processes)) for name, processes in self._processes.items()}


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
        children = sum(_cpu(child) for child in process.children()) if process.name() != "postgres" else 0.0
        return float(times.user + times.system + children)
    except psutil.NoSuchProcess:
        return 0.0


def _pss(process: psutil.Process) -> int:
    try:
        own = process.memory_full_info().pss
        return int(own + sum(_pss(child) for child in process.children()))
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0

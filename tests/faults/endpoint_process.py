"""The endpoint as a process, and its controls."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import requests

from tests.faults.services import python_module
from tests.fixtures.reaper import Reaper


class EndpointProcess:
    """The endpoint and its controls."""

    def __init__(self, reaper: Reaper) -> None:
        self._reaper = reaper
        self._process = subprocess.Popen(
            python_module("tests.faults.endpoint"),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            cwd=Path(__file__).parents[2],
        )
        reaper.watch(self._process.pid, end_with=signal.SIGTERM)
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())
        self._session = requests.Session()
        self._session.trust_env = False

    def mood(self, kind: str, seconds: float = 0.0) -> None:
        """Let it be slow, failing or cutting, or (empty) well."""
        mood = {"kind": kind, "seconds": seconds}
        self._session.post(f"http://127.0.0.1:{self.port}/_mood", json=mood, timeout=30).raise_for_status()

    def hits(self) -> list[dict[str, Any]]:
        """Return everything that arrived."""
        found: list[dict[str, Any]] = self._session.get(f"http://127.0.0.1:{self.port}/_hits?from=0", timeout=60).json()
        return found

    def close(self) -> None:
        """End it."""
        self._session.close()
        self._process.terminate()
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._reaper.forget(self._process.pid)

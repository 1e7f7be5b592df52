"""`sch` as a user meets it: in this process for speed, as a process in a pipe, and on a pseudo-terminal."""

import base64
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sch.main import main
from tests.integration.cli.fake_api import FakeApi, serving
from tests.integration.cli.terminal import Terminal

SPACE = "1d8f6c2a-7b4e-4a51-9b0e-3c2a6b7d9e12"
Sch = Callable[..., "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)

    def facts(self) -> dict[str, str]:
        """Return the names and values that were printed."""
        pairs = (line.partition(":   ") for line in self.out.splitlines())
        return {name: value.strip() for name, gap, value in pairs if gap}


def token_of(user: str) -> str:
    """Return something that looks like a token of this user; the fake API does not look closer."""
    claims = base64.urlsafe_b64encode(json.dumps({"user_name": user}).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJub25lIn0.{claims}.c2ln"


TOKEN = token_of("jane")


@pytest.fixture
def api() -> Iterator[FakeApi]:
    """A fake API of the test's own."""
    with serving() as api:
        yield api


@pytest.fixture
def environment(api: FakeApi, tmp_path: Path) -> dict[str, str]:
    """What the user's shell has set: no cf command, nothing from the shell of whoever runs the tests."""
    return {
        "PATH": str(tmp_path / "bin"),
        "HOME": str(tmp_path),
        "no_proxy": "127.0.0.1",
        "SCHEDULER_URL": api.url,
        "SCHEDULER_TOKEN": f"bearer {TOKEN}",
        "SCHEDULER_SPACE": SPACE,
    }


@pytest.fixture
def sch(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Sch:
    """Run `sch` in this process: `sch("jobs", "list", env={…}, stdin="…")`; None in `env` removes a variable."""

    monkeypatch.setattr("sch.waiting.QUICK_SECONDS", 0.01)

    def run(*arguments: str, env: Mapping[str, str | None] | None = None, stdin: str = "") -> Outcome:
        wanted = {name: value for name, value in {**environment, **(env or {})}.items() if value is not None}
        monkeypatch.setattr(os, "environ", wanted)
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main(arguments)
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def sch_process(environment: dict[str, str]) -> Sch:
    """Run `sch` as a process whose output goes into pipes."""

    def run(*arguments: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "sch", *arguments],
            env={**environment, **(env or {})},
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def on_terminal(environment: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    """Start `sch` on a pseudo-terminal of its own."""
    started: list[Terminal] = []

    def start(*arguments: str, env: Mapping[str, str] | None = None, columns: int = 120) -> Terminal:
        variables = {"TERM": "xterm-256color", **environment, **(env or {})}
        started.append(terminal := Terminal([sys.executable, "-m", "sch", *arguments], variables, columns=columns))
        return terminal

    yield start
    for terminal in started:
        terminal.close()

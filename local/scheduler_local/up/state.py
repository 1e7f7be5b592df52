"""The folder that survives a restart: database, keys, logs, and the list of processes that were started."""

import fcntl
import json
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import psutil
from cryptography.fernet import Fernet

_STOP_SECONDS = 10


class CannotStartError(Exception):
    """One clear sentence for the user."""


class State:
    """The folder and everything in it. Only one `scheduler up` can have it open."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.logs = self.folder / "logs"
        self._processes = self.folder / "processes.json"

    def __enter__(self) -> Self:
        try:
            self.logs.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("w")
        except OSError as error:
            raise CannotStartError(
                f"The folder {self.folder} cannot be written ({error.strerror}); name another one with --state."
            ) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStartError(
                f"Another `scheduler up` is running on {self.folder}; stop it with Ctrl-C, or name another --state."
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def secrets(self) -> Mapping[str, str]:
        """Return this installation's own secrets, made at the first start."""
        path = self.folder / "secrets.json"
        if not path.exists():
            made = {"encryption_key": Fernet.generate_key().decode(), "broker_password": secrets.token_urlsafe(24)}
            path.touch(mode=0o600)
            path.write_text(json.dumps(made))
        known: Mapping[str, str] = json.loads(path.read_text())
        return known

    def write_environment(self, variables: Mapping[str, str]) -> Path:
        """Write what a shell needs to talk to the suite; return the file, to be sourced."""
        path = self.folder / "env"
        path.touch(mode=0o600)
        path.write_text("".join(f"export {name}='{value}'\n" for name, value in variables.items()))
        return path

    def remember_processes(self, pids: list[int]) -> None:
        """Note which processes run, so that the next start can end them if this one is killed."""
        born = {pid: psutil.Process(pid).create_time() for pid in pids if psutil.pid_exists(pid)}
        self._processes.write_text(json.dumps(born))

    def end_leftovers(self) -> int:
        """End what a killed `scheduler up` left running; return how many processes."""
        try:
            born = json.loads(self._processes.read_text())
        except (OSError, ValueError):
            return 0
        leftovers = [process for pid, at in born.items() if (process := _same_process(int(pid), at))]
        for process in leftovers:
            process.terminate()
        for process in psutil.wait_procs(leftovers, timeout=_STOP_SECONDS)[1]:
            process.kill()
        return len(leftovers)


def _same_process(pid: int, born_at: float) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return process if abs(process.create_time() - born_at) < 1 else None
    except psutil.NoSuchProcess:
        return None

"""Keeps the stand-in's world in a folder, so that it goes on where it stopped."""

import json
import threading
from pathlib import Path
from typing import IO

from scheduler_local.controller.tasks import FINAL, Step, Task, Tasks, dump, load

_LOST = "The Cloud Controller stand-in was stopped while the task ran"
_RESTORED = 1_000  # of the latest tasks


class TaskJournal:
    """One line for each new state of a task; the last line of a task counts."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "tasks.jsonl"
        self._lock = threading.Lock()
        self._file: IO[str] | None = None

    def write(self, task: Task) -> None:
        """Note the task's steps."""
        with self._lock:
            if self._file is None:
                self._file = self._path.open("a", encoding="utf-8")
            self._file.write(json.dumps(dump(task)) + "\n")
            self._file.flush()

    def restore(self, tasks: Tasks) -> None:
        """Take up the latest tasks of an earlier life; what was running then has failed."""
        latest = self._read()[-_RESTORED:]
        self._path.unlink(missing_ok=True)
        for task in latest:
            tasks.restore(task)
            is_scripted = len(task.steps) > 1
            if is_scripted or task.state in FINAL:
                self.write(task)
            else:
                tasks.follow(task, Step(state="FAILED", reason=_LOST))

    def _read(self) -> list[Task]:
        found: dict[str, Task] = {}
        lines = self._path.read_text(encoding="utf-8").splitlines() if self._path.exists() else []
        for line in lines:
            try:
                task = load(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue  # the last line may have been cut off
            found.pop(task.guid, None)
            found[task.guid] = task
        return list(found.values())

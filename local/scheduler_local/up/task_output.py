"""Shows what tasks print, as the stand-in Cloud Controller logs it, until the suite stops."""

import threading
from pathlib import Path
from typing import IO

_LOOK_SECONDS = 0.3
_MARK = "APP/TASK/"


def show_task_output(log: Path, stop: threading.Event) -> None:
    """Print new lines of tasks from the log, in a thread of its own."""
    threading.Thread(target=_follow, args=(log, stop), name="task-output", daemon=True).start()


def _follow(log: Path, stop: threading.Event) -> None:
    with log.open(errors="replace") as lines:
        lines.seek(0, 2)
        while not stop.wait(_LOOK_SECONDS):
            _print_new(lines)


def _print_new(lines: IO[str]) -> None:
    for line in lines:
        if _MARK in line:
            print(_printable(line), flush=True)  # noqa: T201 - this is a command


def _printable(line: str) -> str:
    """A task's output cannot move the cursor or colour what follows."""
    return "".join(character for character in line.rstrip("\n") if character.isprintable() or character == "\t")

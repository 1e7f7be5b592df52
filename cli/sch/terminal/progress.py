"""A state that changes while one waits."""

from typing import Protocol, TextIO

from sch.terminal.sizes import columns_of
from sch.terminal.text import clean, shorten

_ERASE_LINE = "\r\x1b[K"
_FRAMES = "|/-\\"


class Progress(Protocol):
    """Shows the present state until it is closed."""

    def show(self, state: str, since: str) -> None:
        """Show the state; `since` says for how long, and changes with every call."""

    def close(self) -> None:
        """Leave the screen as one would like to find it."""


class LiveLine:
    """One line of a terminal, written again and again."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._turns = 0

    def show(self, state: str, since: str) -> None:
        frame = _FRAMES[self._turns % len(_FRAMES)]
        self._turns += 1
        line = shorten(f"{frame} {clean(state)}   {since}", columns_of(self._stream) - 1)
        self._stream.write(_ERASE_LINE + line)
        self._stream.flush()

    def close(self) -> None:
        self._stream.write(_ERASE_LINE)
        self._stream.flush()


class PlainLines:
    """A line for each state that differs from the one before."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._state = ""

    def show(self, state: str, since: str) -> None:  # noqa: ARG002 - a log has no use for a running clock
        if state != self._state:
            self._state = state
            self._stream.write(clean(state) + "\n")
            self._stream.flush()

    def close(self) -> None:
        pass

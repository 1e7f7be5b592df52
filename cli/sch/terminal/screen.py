"""What the user sees: sentences, tables and details on standard output, what went wrong on standard error."""

import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from sch.terminal.colours import Style, paint, wants_colour
from sch.terminal.progress import LiveLine, PlainLines, Progress
from sch.terminal.sizes import columns_of
from sch.terminal.tables import detail_lines, table_lines
from sch.terminal.text import clean, clean_json

_YES = {"y", "yes"}


class Screen:
    """The terminal or pipe of one command. With `json_only`, standard output carries JSON and nothing else."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.json_only = False
        self._out, self._err, self._in = sys.stdout, sys.stderr, sys.stdin
        self._environment = environment
        self.colour = wants_colour(environment, self._out)

    @property
    def interactive(self) -> bool:
        """Tell whether somebody is there to be asked."""
        return self._in.isatty() and self._out.isatty()

    def heading(self, template: str, *names: str) -> None:
        """Say what is being done; each {} of the template takes one of the names."""
        self.say(template.format(*(self.styled(clean(name), Style.NAME) for name in names)))

    def say(self, line: str = "") -> None:
        """Print a line of ours; whatever it holds from elsewhere was made clean before."""
        if not self.json_only:
            self._print(self._out, line)

    def ok(self) -> None:
        """Confirm that it is done."""
        self.say(self.styled("OK", Style.GOOD))

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]], *, empty: str) -> None:
        """Print a table below an empty line, or the sentence `empty`."""
        self.say()
        if not rows:
            self.say(empty)
            return
        fit = columns_of(self._out) if self._out.isatty() else None
        first, *others = table_lines(headings, rows, fit=fit)
        self.say(self.styled(first, Style.BOLD))
        for line in others:
            self.say(line)

    def footer(self, line: str) -> None:
        """Print a line below an empty one, if there is something to say."""
        if line:
            self.say(f"\n{line}")

    def details(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Print names and values below an empty line."""
        self.say()
        for line in detail_lines(pairs):
            self.say(line)

    def json(self, body: str) -> None:
        """Print JSON as it came, if JSON is wanted; on a terminal, what could steer it is written as JSON's escapes."""
        if self.json_only:
            self._print(self._out, (clean_json(body) if self._out.isatty() else body).rstrip("\n"))

    def note(self, line: str) -> None:
        """Print a line beside the result, on standard error."""
        self._print(self._err, line)

    def fail(self, *lines: str) -> None:
        """Say what went wrong on standard error, and FAILED where the result would have been."""
        for line in lines:
            self.note(line)
        self.say(self.styled("FAILED", Style.BAD))

    def confirm(self, question: str) -> bool:
        """Ask; anything but yes is a no."""
        stream = self._err if self.json_only else self._out
        stream.write(f"{question} [yN]: ")
        stream.flush()
        return self._in.readline().strip().lower() in _YES

    def progress(self) -> Progress:
        """Return where a changing state is shown: one live line on a terminal, a line per change in a pipe."""
        stream = self._err if self.json_only else self._out
        return LiveLine(stream) if stream.isatty() else PlainLines(stream)

    def styled(self, text: str, style: Style) -> str:
        """Return the text in a style, if this screen shows any."""
        return paint(text, style) if self.colour else text

    def _print(self, stream: TextIO, line: str) -> None:
        stream.write(line + "\n")
        stream.flush()

"""Whether and how to colour, as the cf command line does."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TextIO

_YES = {"1", "t", "true", "yes"}
_NO = {"0", "f", "false", "no"}


class Style(StrEnum):
    """The few styles in use, as the parameters of an SGR sequence."""

    BOLD = "1"
    NAME = "36;1"  # what a sentence is about
    GOOD = "32;1"
    BAD = "31;1"
    WARNING = "33;1"
    FAINT = "2"


def wants_colour(environment: Mapping[str, str], stream: TextIO) -> bool:
    """Tell whether to colour: CF_COLOR decides, then NO_COLOR, then whether a terminal is there to show it."""
    wish = environment.get("CF_COLOR", "").lower()
    if wish in _YES | _NO:
        return wish in _YES
    if environment.get("NO_COLOR") or environment.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(text: str, style: Style) -> str:
    """Return the text in a style."""
    return f"\x1b[{style}m{text}\x1b[0m"

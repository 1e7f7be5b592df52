"""Request bodies from options: what was given, and nothing else."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sch.errors import CliError, UsageError
from sch.terminal.text import clean


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None and value != ()}


def changes(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that have a value; raises UsageError when there are none."""
    body = given(fields)
    if not body:
        raise UsageError("Nothing to change is given.")
    return body


def text_or_file(value: str) -> str:
    """Return the text, or what is in FILE for @FILE, or what is on standard input for -.

    Raises CliError when the file cannot be read.
    """
    if value == "-":
        return sys.stdin.read().rstrip("\r\n")
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        raise CliError(
            f"{clean(value[1:])} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}"
        ) from error

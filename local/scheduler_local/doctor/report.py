"""The findings on the screen or as JSON."""

import json
import os
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

import click

from scheduler_local.doctor.checks import Check, Status
from scheduler_local.doctor.examining import doctor

_COLOURS = {Status.OK: "green", Status.WARNING: "yellow", Status.FAILED: "red", Status.SKIPPED: "cyan"}
_WIDTH = 100


def run(*, as_json: bool, environ: Mapping[str, str] = os.environ) -> int:
    """Print what is found; return 1 when something has failed, 0 otherwise."""
    checks = doctor(environ)
    good = not any(check.status is Status.FAILED for check in checks)
    if as_json:
        click.echo(json.dumps({"ok": good, "checks": [asdict(check) for check in checks]}, indent=2))
    else:
        for line in report_lines(checks):
            click.echo(line, color=False if environ.get("NO_COLOR") else None)  # None: on a terminal only
    return 0 if good else 1


def report_lines(checks: Sequence[Check]) -> Iterator[str]:
    """Yield the findings one below the other, each followed by what to do about it, and a count at the end."""
    state_cells = max(len(status) for status in Status)
    name_cells = max((len(check.name) for check in checks), default=0)
    indent = " " * (state_cells + name_cells + 6)
    for check in checks:
        state = click.style(f"{check.status:{state_cells}}", fg=_COLOURS[check.status], bold=True)
        first, *others = _wrapped(_clean(check.finding), len(indent))
        yield f"{state}   {check.name:{name_cells}}   {first}"
        yield from (f"{indent}{line}" for line in others)
        if check.advice:
            first, *others = _wrapped(_clean(check.advice), len(indent) + 3)
            yield f"{indent}-> {first}"
            yield from (f"{indent}   {line}" for line in others)
    counts = Counter(check.status for check in checks)
    yield ""
    yield ", ".join(f"{counts[status]} {status}" for status in Status if counts[status])


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, _WIDTH - indent, break_long_words=False, break_on_hyphens=False) or [""]


def _clean(text: str) -> str:
    """Nothing that a server says can move the cursor."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)

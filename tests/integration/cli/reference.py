"""The command reference in docs/cli.md, taken from the commands' own help.

`python -m tests.integration.cli.reference` writes it anew; a test holds the file to it.
"""

import io
import os
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

import click

from sch.grammar.help import summary_of
from sch.main import main
from sch.root import root

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"
BEGIN = "<!-- The reference below is generated: python -m tests.integration.cli.reference -->\n"


def commands(group: click.Group = root, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command and group below `group` with its words, in the order of the help."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def reference() -> str:
    """Return the reference as Markdown."""
    parts = [BEGIN, "## Reference\n", "```text\n" + _printed("help") + "```\n"]
    for path, command in commands():
        if isinstance(command, click.Group):
            parts.append(f"### sch {' '.join(path)}\n\n{summary_of(command)}.\n")
        else:
            level = "###" if len(path) == 1 else "####"
            parts.append(f"{level} sch {' '.join(path)}\n\n```text\n{_printed('help', *path)}```\n")
    return "\n".join(parts)


def with_reference(page: str) -> str:
    """Return the page with what stands below its mark replaced."""
    return page.partition(BEGIN)[0] + reference()


def _printed(*arguments: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out), patch.dict(os.environ, COLUMNS="100", CF_COLOR="false"):
        assert main(arguments) == 0
    return out.getvalue()


if __name__ == "__main__":
    PAGE.write_text(with_reference(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

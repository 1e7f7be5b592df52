"""What the documents and the help say about `sch` can be typed."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from sch.grammar.commands import Command
from sch.root import root
from sch.surroundings import Surroundings
from tests.integration.cli.reference import PAGE, commands, with_reference
from tests.integration.cli.samples import JOB_GUID

_SHELL = re.compile(r"\s+(?:[|<>#]|2>).*")
_DOCUMENTS = PAGE.parent


def _examples() -> Iterator[str]:
    for _, command in commands():
        yield from command.examples if isinstance(command, Command) else ()
    for page in [*_DOCUMENTS.glob("**/*.md"), _DOCUMENTS.parent / "README.md"]:
        for line in page.read_text(encoding="utf-8").splitlines():
            yield from re.findall(r"^\s*\$ (?:\.venv/bin/)?(sch .*)$", line)


@pytest.mark.parametrize("example", sorted({example for example in _examples() if example.startswith("sch ")}))
def test_every_example_is_a_command_line_that_makes_sense(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").touch()
    words = shlex.split(_SHELL.sub("", example))[1:]
    _parse(root, [JOB_GUID if word == "GUID" else word for word in words])


def _parse(group: click.Group, words: list[str]) -> None:
    name, command, rest = group.resolve_command(click.Context(group), words)
    assert command is not None
    if isinstance(command, click.Group):
        _parse(command, rest)
        return
    with command.make_context(name, rest, obj=Surroundings({})):
        pass


def test_the_reference_is_the_help_of_the_commands() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_reference(page), "write it anew: python -m tests.integration.cli.reference"


def test_every_picture_that_is_shown_exists() -> None:
    shown = re.findall(r"!\[[^]]+\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert shown
    assert all((_DOCUMENTS / picture).is_file() for picture in shown)

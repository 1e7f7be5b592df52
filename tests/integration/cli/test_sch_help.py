"""Help, usage errors, completion, version."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sch.grammar.commands import Command, Group
from sch.root import SECTIONS
from tests.integration.cli.conftest import Sch
from tests.integration.cli.reference import commands

ALL = dict(commands())


ROWS = {tuple(name.split()): words for rows in SECTIONS.values() for name, words in rows}
# One list on two lines, for both.
ATTACHED = f"{ROWS['jobs', 'schedules']} {ROWS['calls', 'schedules']}"


def test_the_top_level_page_names_every_command_once(sch: Sch) -> None:
    page = sch("--help").out
    assert {path[0] for path in ROWS} == {path[0] for path in ALL}
    assert all(f"\n  {' '.join(path)} " in page for path in ROWS)


@pytest.mark.parametrize("path", [path for path in ROWS if isinstance(ALL[path], Group)], ids=" ".join)
def test_the_top_level_page_lists_what_a_group_has(path: tuple[str, ...]) -> None:
    words = ATTACHED if len(path) > 1 else ROWS[path]
    assert words.split(", ") == [name for *above, name in ALL if tuple(above) == path and name != "schedules"]


def test_a_bare_sch_shows_the_page(sch: Sch) -> None:
    assert sch() == sch("--help") == sch("-h") == sch("help")
    assert sch().code == 0


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_explains_itself(sch: Sch, path: tuple[str, ...]) -> None:
    command, page = ALL[path], sch(*path, "--help")
    assert page.code == 0
    assert page.out.startswith(f"NAME:\n   {' '.join(path)} - ")
    assert f"USAGE:\n   sch {' '.join(path)} " in page.out
    assert sch("help", *path).out == page.out
    if isinstance(command, Command):
        assert command.examples
        assert all(any(line.strip() == example for line in page.out.splitlines()) for example in command.examples)
    else:
        assert isinstance(command, Group)
        assert "COMMANDS:\n" in page.out


@pytest.mark.parametrize("path", [path for path, command in ALL.items() if isinstance(command, Group)], ids=" ".join)
def test_a_group_without_a_command_explains_itself(sch: Sch, path: tuple[str, ...]) -> None:
    assert sch(*path) == sch(*path, "--help")


@pytest.mark.parametrize(
    ("arguments", "complaint", "usage"),
    [
        (("jbos",), "'jbos' is not a command. Did you mean 'jobs'?", "sch COMMAND"),
        (("jobs", "lits"), "'lits' is not a command. Did you mean 'list'?", "sch jobs COMMAND"),
        (("jobs", "xyzzy"), "'xyzzy' is not a command.\n", "sch jobs COMMAND"),
        (("jobs", "get"), "Missing argument 'JOB'.", "sch jobs get JOB"),
        (("jobs", "list", "--nonsense"), "No such option", "sch jobs list"),
        (("help", "jobs", "lits"), "'lits' is not a command.", "sch jobs COMMAND"),
        (("completion", "tcsh"), "Invalid value for 'bash|zsh|fish': 'tcsh'", "sch completion bash|zsh|fish"),
    ],
)
def test_a_usage_error_shows_how_the_command_is_written(
    sch: Sch, arguments: tuple[str, ...], complaint: str, usage: str
) -> None:
    done = sch(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"Incorrect Usage: {complaint}")
    assert f"\nUSAGE:\n   {usage}" in done.err


def test_the_version_is_printed_in_three_ways(sch: Sch) -> None:
    assert sch("version") == sch("--version")
    assert sch("version").out.startswith("sch version 3.")
    assert f"sch version {sch('version', '--json').json()['version']}\n" == sch("version").out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script_of_a_shell(sch: Sch, shell: str) -> None:
    done = sch("completion", shell)
    assert done.code == 0
    assert f"_SCH_COMPLETE={shell}_complete" in done.out


def test_completion_completes_commands_and_options_without_a_scheduler(environment: dict[str, str]) -> None:
    assert _completed(environment, "sch jobs sch", 2) == ["plain,schedules"]
    assert "plain,--misfire" in _completed(environment, "sch jobs schedules create --misf", 4)
    assert "plain,run_once" in _completed(environment, "sch jobs schedules create --misfire r", 5)


def _completed(environment: dict[str, str], line: str, word: int) -> list[str]:
    variables = {"_SCH_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(word)}
    sch = str(Path(sys.executable).with_name("sch"))
    done = subprocess.run(
        [sch], env={"PATH": os.environ["PATH"], **variables}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_help_and_version_load_neither_http_nor_the_database() -> None:
    script = (
        "import sys; from sch.main import main; main(['version']); main(['--help']); "
        "slow = {'requests', 'urllib3', 'sqlalchemy', 'psycopg2', 'pika', 'croniter', 'flask'} & set(sys.modules); "
        "sys.exit(f'loaded: {slow}' if slow else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


def test_no_command_loads_an_adapter_of_the_product() -> None:
    script = (
        "import sys, click; from sch.root import root\n"
        "def load(group):\n"
        "    context = click.Context(group)\n"
        "    for command in (group.get_command(context, name) for name in group.list_commands(context)):\n"
        "        load(command) if isinstance(command, click.Group) else None\n"
        "load(root)\n"
        "ours = {name for name in sys.modules if name.startswith('scheduler')}\n"
        "wrong = {name for name in ours if name.split('.')[:2] not in (['scheduler'], ['scheduler', 'domain'], "
        "['scheduler', 'timetable'])}\n"
        "sys.exit(f'loaded: {wrong}' if wrong else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr

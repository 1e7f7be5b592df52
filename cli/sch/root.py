"""`sch` itself: its commands in groups, and the page that lists them."""

from typing import Any

import click

from sch.grammar.commands import Group
from sch.grammar.help import heading
from sch.surroundings import Surroundings
from scheduler import __version__

_PLACES = {
    "jobs": "sch.commands.jobs:jobs",
    "calls": "sch.commands.calls:calls",
    "schedules": "sch.commands.space_schedules:schedules",
    "executions": "sch.commands.executions:executions",
    "validate": "sch.commands.validation:validate",
    "next": "sch.commands.next_runs:next_runs",
    "zones": "sch.commands.zones:zones",
    "orphans": "sch.commands.orphans:orphans",
    "audit": "sch.commands.audit:audit",
    "completion": "sch.commands.completion:completion",
    "help": "sch.commands.explanation:explain",
    "version": "sch.commands.versions:version",
}

# Written out, so that the page needs no module but this one; a test holds it against the commands themselves.
SECTIONS = {
    "Jobs and calls": [
        ("jobs", "create, list, get, update, execute, delete, history"),
        ("calls", "create, list, get, update, execute, delete, history"),
    ],
    "Schedules": [
        ("jobs schedules", "create, list, get, update, pause, resume,"),
        ("calls schedules", "trigger, revalidate, delete, history, why"),
        ("schedules", "list"),
    ],
    "Executions": [("executions", "get, cancel, watch")],
    "Timetables": [
        ("validate", "Check an expression, or the schedules of a job or call, at the scheduler"),
        ("next", "Show the next runs of an expression, without a scheduler"),
        ("zones", "List the time zones, without a scheduler"),
    ],
    "Administration": [
        ("orphans", "list, delete"),
        ("audit", "Show who did what"),
    ],
    "The command line": [
        ("completion", "Print the completion of bash, zsh or fish"),
        ("help", "Explain a command"),
        ("version", "Print the version"),
    ],
}

_ENVIRONMENT = [
    ("SCHEDULER_URL=https://scheduler.example.com", "Where the scheduler is"),
    ('SCHEDULER_TOKEN="$(cf oauth-token)"', "Who is asking; without it, cf is asked"),
    ("SCHEDULER_SPACE=SPACE", "The space in which names are looked up"),
    ("SCHEDULER_CA_CERT_FILE=path/to/ca.pem", "Trust a certificate authority"),
    ("SCHEDULER_SKIP_SSL_VALIDATION=true", "Trust any certificate"),
    ("CF_COLOR=false, NO_COLOR=1", "Do not colour the output"),
]
_OPTIONS = [("--help, -h", "Show help"), ("--version", "Print the version")]
_NAME_CELLS, _VARIABLE_CELLS = 18, 46


class Root(Group):
    """The top-level page is grouped as cf's is."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        name = ctx.command_path
        formatter.write(f"{name} version {__version__}, the command line of the scheduler for Cloud Foundry\n")
        formatter.write(f"Usage: {name} command [subcommand] [arguments...] [command options]\n")
        for section, rows in SECTIONS.items():
            _write(formatter, section, rows, _NAME_CELLS)
        _write(formatter, "Environment variables", _ENVIRONMENT, _VARIABLE_CELLS)
        _write(formatter, "Global options", _OPTIONS, _VARIABLE_CELLS)
        formatter.write(f"\n'{name} help COMMAND...' explains a command, with examples.\n")


def _write(formatter: click.HelpFormatter, section: str, rows: list[tuple[str, str]], cells: int) -> None:
    heading(formatter, section)
    for name, words in rows:
        formatter.write(f"  {name:{cells}}{words}\n")


def _print_version(ctx: click.Context, _: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"sch version {__version__}")
        ctx.exit()


@click.group("sch", cls=Root, places=_PLACES, help="The command line of the scheduler for Cloud Foundry")
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version"
)
@click.pass_context
def root(ctx: click.Context) -> None:
    """Make what all commands share."""
    surroundings = ctx.ensure_object(Surroundings)
    ctx.color = surroundings.screen.colour

"""`sch jobs`."""

from typing import Any

import click

from sch.api import uses_api
from sch.commands.attached import schedules_group
from sch.commands.work import add_work_commands, show_work
from sch.grammar.arguments import placed
from sch.grammar.bodies import changes, given
from sch.grammar.commands import Group, command
from sch.grammar.options import BYTES, MEGABYTES, space_option
from sch.names import find_work
from sch.remote.session import Session
from sch.spaces import guid_of_app
from scheduler.domain.states import RefType

_LIMITS = (
    click.option("--memory", "-m", "memory_in_mb", type=MEGABYTES, metavar="SIZE", help="Memory, such as 256M or 1G"),
    click.option("--disk", "-k", "disk_in_mb", type=MEGABYTES, metavar="SIZE", help="Disk, such as 512M or 1G"),
    click.option(
        "--log-rate-limit",
        "-l",
        "log_rate_in_bps",
        type=BYTES,
        metavar="SIZE",
        help="Log bytes per second, such as 64K",
    ),
    click.option(
        "--pass-context/--no-pass-context",
        default=None,
        help="Tell the command its execution, in SCHEDULER_… variables",
    ),
)


def _limits(function: Any) -> Any:
    for option in reversed(_LIMITS):
        function = option(function)
    return function


@click.group("jobs", cls=Group, help="Named commands for an app, run as Cloud Foundry tasks")
def jobs() -> None:
    """Collect the commands."""


@command(
    "create",
    "Create a job for an app",
    examples=(
        "sch jobs create my-app nightly 'bin/rails cleanup'",
        "sch jobs create 6f5b3a3e-2b8e-4c8f-a8a2-0e6f4f1f6c11 nightly 'bin/rails cleanup' -m 512M -k 1G",
    ),
    see_also="jobs execute, jobs schedules create",
)
@click.argument("words", metavar="APP NAME COMMAND", nargs=-1)
@click.option("--app", metavar="APP", help="Instead of the argument: the app, by name or GUID")
@click.option("--command", "command_line", metavar="COMMAND", help="Instead of the argument: the command")
@_limits
@uses_api
def create(session: Session, words: tuple[str, ...], app: str | None, command_line: str | None, **limits: Any) -> None:
    """Create a job."""
    app, name, command_line = placed(words, {"APP": app, "NAME": None, "COMMAND": command_line})
    app_guid = guid_of_app(session, app)
    session.screen.heading("Creating job {} for app {} as {}...", name, app, session.user)
    body = {"name": name, "command": command_line, **given(limits)}
    answer = session.api.send("POST", "/jobs", {"app_guid": app_guid}, body=body)
    session.screen.json(answer.text)
    session.screen.ok()
    show_work(session, answer.row())


@command(
    "update",
    "Change a job",
    examples=("sch jobs update nightly --command 'bin/rails cleanup --all'", "sch jobs update nightly -m 1G"),
)
@click.argument("name", metavar="JOB")
@space_option
@click.option("--name", "new_name", metavar="NAME", help="Its new name")
@click.option("--command", "command_line", metavar="COMMAND", help="Its new command")
@_limits
@uses_api
def update(
    session: Session, name: str, space: str | None, new_name: str | None, command_line: str | None, **limits: Any
) -> None:
    """Change a job."""
    body = changes({"name": new_name, "command": command_line, **limits})
    job = find_work(session, RefType.JOB, name, space)
    job.announce(session, "Changing")
    answer = session.api.send("PATCH", job.path(), body=body)
    session.screen.json(answer.text)
    session.screen.ok()
    show_work(session, answer.row())


jobs.add_command(create)
jobs.add_command(update)
add_work_commands(jobs, RefType.JOB)
jobs.add_command(schedules_group(RefType.JOB))

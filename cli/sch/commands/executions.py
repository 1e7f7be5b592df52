"""`sch executions`."""

import click

from sch.api import uses_api
from sch.grammar.commands import Group, command
from sch.grammar.options import GUID
from sch.remote.session import Session
from sch.views.executions import execution_details
from sch.waiting import path_of_execution, show_outcome, wait_for


@click.group("executions", cls=Group, help="Executions: the records of single runs")
def executions() -> None:
    """Collect the commands."""


@command(
    "get", "Show all that is known about an execution", examples=("sch executions get GUID",), see_also="jobs history"
)
@click.argument("guid", metavar="EXECUTION", type=GUID)
@uses_api
def get(session: Session, guid: str) -> None:
    """Show an execution."""
    session.screen.heading("Getting execution {} as {}...", guid, session.user)
    answer = session.api.get(path_of_execution(guid))
    session.screen.json(answer.text)
    session.screen.details(execution_details(answer.row()))


@command(
    "cancel",
    "Cancel an execution\n\nOne that waits is not started; the task of one that runs is cancelled.",
    examples=("sch executions cancel GUID",),
    see_also="executions watch",
)
@click.argument("guid", metavar="EXECUTION", type=GUID)
@uses_api
def cancel(session: Session, guid: str) -> None:
    """Cancel an execution."""
    session.screen.heading("Cancelling execution {} as {}...", guid, session.user)
    answer = session.api.send("POST", path_of_execution(guid, "actions", "cancel"))
    session.screen.json(answer.text)
    session.screen.ok()
    if answer.text.strip():
        session.screen.details(execution_details(answer.row()))


@command(
    "watch",
    "Wait until an execution has ended\n\nEnds with 0 when it has succeeded, with 1 when not.",
    examples=("sch executions watch GUID", "sch executions watch GUID --timeout 600"),
    see_also="jobs execute",
)
@click.argument("guid", metavar="EXECUTION", type=GUID)
@click.option("--timeout", type=click.FloatRange(0), metavar="SECONDS", help="Wait no longer than this")
@uses_api
def watch(session: Session, guid: str, timeout: float | None) -> None:
    """Watch an execution."""
    session.screen.heading("Watching execution {} as {}...", guid, session.user)
    show_outcome(session, wait_for(session, guid, seconds=timeout))


for each in (get, cancel, watch):
    executions.add_command(each)

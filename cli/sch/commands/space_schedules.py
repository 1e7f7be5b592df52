"""`sch schedules`: all schedules of a space."""

from typing import Any

import click

from sch.api import uses_api
from sch.grammar.commands import Group, command
from sch.grammar.options import space_option
from sch.remote.answers import Row, shown
from sch.remote.paging import all_rows
from sch.remote.session import Session
from sch.spaces import find_space
from sch.views.schedules import HEADINGS, schedule_cells
from scheduler.domain.states import ScheduleState


@click.group("schedules", cls=Group, help="All schedules of a space")
def schedules() -> None:
    """Collect the commands."""


@command(
    "list",
    "List the schedules of a space, the next to run first",
    aliases=("all",),
    examples=(
        "sch schedules list --space dev",
        "sch schedules list --state needs_review",
        "sch schedules list -q nightly",
    ),
    see_also="jobs schedules list, calls schedules list",
)
@click.argument("positional", metavar="[SPACE]", required=False)
@space_option
@click.option("--state", type=click.Choice([str(state) for state in ScheduleState]), help="Only those in this state")
@click.option("--enabled/--disabled", default=None, help="Only those that are enabled, or not")
@click.option("--query", "-q", "q", metavar="TEXT", help="Only those that have this text in them")
@uses_api
def list_schedules(
    session: Session, positional: str | None, space: str | None, *, enabled: bool | None, **filters: Any
) -> None:
    """List the schedules."""
    where = find_space(session, space or positional)
    session.screen.heading("Getting schedules in space {} as {}...", where.label, session.user)
    query = {"space_guid": where.guid, "enabled": enabled if enabled is None else str(enabled).lower(), **filters}
    if session.screen.json_only:
        session.screen.json(session.api.get("/schedules", query).text)
        return
    rows = list(all_rows(session.api, "/schedules", query))
    cells = [[shown(row, "ref_type"), _name(row), *schedule_cells(row)] for row in rows]
    session.screen.table(["of", "name", *HEADINGS], cells, empty="No schedules found.")


def _name(row: Row) -> str:
    """Return the name of the job or call; one that is gone has only its GUID left."""
    return shown(row, "ref_name", "job_guid", "call_guid")


schedules.add_command(list_schedules)

"""`sch audit`."""

from typing import Any

import click

from sch.api import uses_api
from sch.grammar.commands import command
from sch.grammar.options import space_option
from sch.remote.answers import Row, shown
from sch.remote.cf import Space
from sch.remote.paging import more_than
from sch.remote.session import Session
from sch.spaces import find_space
from sch.terminal.times import shown_time

_HEADINGS = ("time", "actor", "action", "target", "guid")


@command(
    "audit",
    "Show who did what in a space, the newest first",
    examples=(
        "sch audit --space dev --since 2027-01-01T00:00:00Z",
        "sch audit --target 9a1c1a56-0d0c-4f86-9a8c-5d4d1f3b2f10",
    ),
)
@space_option
@click.option("--all-spaces", is_flag=True, help="In all spaces, for admins")
@click.option(
    "--target", "target_guid", metavar="GUID", help="Only what was done to this job, call, schedule, execution"
)
@click.option("--actor", "actor_guid", metavar="GUID", help="Only what was done by this user")
@click.option("--action", metavar="ACTION", help="Only this, such as schedule.pause")
@click.option("--since", metavar="INSTANT", help="Not earlier than this")
@click.option("--until", metavar="INSTANT", help="Not later than this")
@click.option(
    "--limit", "-n", "per_page", type=click.IntRange(1, 5_000), default=50, metavar="N", help="How many a page (50)"
)
@click.option("--page", type=click.IntRange(1), default=1, metavar="N", help="Which page, counted from 1")
@uses_api
def audit(session: Session, space: str | None, *, all_spaces: bool, **filters: Any) -> None:
    """Show audit events."""
    screen = session.screen
    where = Space(guid="", name="(all)") if all_spaces else find_space(session, space)
    screen.heading("Getting audit events in space {} as {}...", where.label, session.user)
    answer = session.api.get("/audit-events", {"space_guid": where.guid or None, **filters})
    screen.json(answer.text)
    rows = answer.rows()
    screen.table(_HEADINGS, [_cells(row) for row in rows], empty="No audit events found.")
    screen.footer(more_than(answer, (filters["page"] - 1) * filters["per_page"] + len(rows)))


def _cells(row: Row) -> list[str]:
    return [
        shown_time(row.get("created_at")),
        shown(row, "actor_name", "actor_guid"),
        shown(row, "action"),
        shown(row, "target_type"),
        shown(row, "target_guid"),
    ]

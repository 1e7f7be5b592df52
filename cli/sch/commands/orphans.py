"""`sch orphans`: what is left of apps, jobs and calls that are gone; for admins."""

from collections.abc import Sequence

import click

from sch.api import admins_only, uses_api
from sch.commands.deleting import confirmed
from sch.errors import UnsuccessfulError
from sch.grammar.commands import Group, command
from sch.remote.answers import Row, shown
from sch.remote.session import Session

_SECONDS = 600.0  # the scheduler asks Cloud Controller about every app, ten at a time
_WORK = ("type", "name", "guid", "app", "space", "enabled schedules")
_SCHEDULES = ("schedule", "of", "guid", "expression", "enabled")


@click.group("orphans", cls=Group, help="What is left of apps, jobs and calls that are gone; for admins")
def orphans() -> None:
    """Collect the commands."""


@command(
    "list",
    "List jobs and calls whose app is gone, and schedules whose job or call is gone",
    aliases=("all",),
    examples=("sch orphans list", "sch orphans list --json | jq -r '.resources[].guid'"),
    see_also="orphans delete",
)
@uses_api
@admins_only
def list_orphans(session: Session) -> None:
    """List the orphans."""
    screen = session.screen
    screen.heading("Getting orphans as {}...", session.user)
    answer = session.api.get("/orphans", seconds=_SECONDS)
    screen.json(answer.text)
    screen.table(_WORK, [_work_cells(row) for row in answer.rows()], empty="No orphaned jobs or calls found.")
    rows = [_schedule_cells(row) for row in answer.rows("orphan_schedules")]
    screen.table(_SCHEDULES, rows, empty="No orphaned schedules found.")


@command(
    "delete",
    "Delete the orphans with these GUIDs\n\nJobs, calls and schedules may be mixed. What has an app, a job or a call "
    "after all is kept. Ends with 1 when anything was not deleted.",
    aliases=("del",),
    examples=("sch orphans del 9a1c1a56-0d0c-4f86-9a8c-5d4d1f3b2f10 5e2d8c4b-3f1a-4b7e-9c6d-8a0f2e4b6d14",),
    see_also="orphans list",
)
@click.argument("guids", metavar="GUID...", nargs=-1, required=True)
@click.option("--force", "--yes", "-f", "-y", is_flag=True, help="Do not ask")
@uses_api
@admins_only
def delete(session: Session, guids: Sequence[str], *, force: bool) -> None:
    """Delete orphans."""
    screen = session.screen
    count = len(set(guids))
    if not force and not confirmed(session, f"Really delete {count} {'orphan' if count == 1 else 'orphans'}?"):
        screen.say("Nothing has been deleted.")
        return
    screen.heading("Deleting orphans as {}...", session.user)
    answer = session.api.send("POST", "/orphans/delete", body={"guids": list(guids)}, seconds=_SECONDS)
    screen.json(answer.text)
    results = answer.rows("results")
    cells = [[shown(row, name) for name in ("guid", "type", "result", "message")] for row in results]
    screen.table(("guid", "type", "result", "message"), cells, empty="No results were answered.")
    screen.say()
    _conclude(session, results, count)


def _conclude(session: Session, results: Sequence[Row], count: int) -> None:
    deleted = sum(row.get("result") == "deleted" for row in results)
    if deleted == count == len(results):
        session.screen.ok()
        return
    session.screen.fail(f"{count - deleted} of {count} were not deleted.")
    raise UnsuccessfulError


def _work_cells(row: Row) -> list[str]:
    enabled = sum(bool(schedule.get("enabled")) for schedule in row.get("schedules") or ())
    return [*(shown(row, name) for name in ("type", "name", "guid", "app_guid", "space_guid")), str(enabled)]


def _schedule_cells(row: Row) -> list[str]:
    return [shown(row, name) for name in ("guid", "ref_type", "ref_guid", "expression", "enabled")]


orphans.add_command(list_orphans)
orphans.add_command(delete)

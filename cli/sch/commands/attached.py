"""`sch jobs schedules` and `sch calls schedules`: the schedules of one job or call."""

from typing import Any

import click

from sch.api import uses_api
from sch.commands.attached_actions import ACTIONS
from sch.commands.attached_why import why_command
from sch.commands.deleting import delete
from sch.commands.histories import history_options, show_history
from sch.grammar.bodies import changes
from sch.grammar.commands import Command, Group, command
from sch.grammar.options import GUID, force_option, space_option
from sch.grammar.schedule_options import schedule_body, schedule_options
from sch.names import find_work
from sch.remote.expressions import pointing_into
from sch.remote.paging import all_rows
from sch.remote.session import Session
from sch.views.schedules import HEADINGS, schedule_details, schedule_rows
from scheduler.domain.states import RefType


def schedules_group(kind: RefType) -> Group:
    """Return the group of the schedules of a job or call."""
    group = Group("schedules", help=f"The schedules of a {kind}")
    for make in (_create, _list, _get, _update, _delete, _history, why_command, *ACTIONS):
        group.add_command(make(kind))
    return group


def _create(kind: RefType) -> Command:
    @command(
        "create",
        f"Create a schedule for a {kind}\n\nEXPRESSION is a cron expression in quotes; with --type fixed_rate "
        "a duration such as PT5M; with --type one_time an instant such as 2027-01-01T10:30:00Z.",
        examples=(
            f"sch {kind}s schedules create nightly '0 2 * * MON-FRI' --time-zone Europe/Berlin",
            f"sch {kind}s schedules create nightly 'H 2 * * *' --overlap skip --misfire skip",
            f"sch {kind}s schedules create nightly PT5M --type fixed_rate",
            f"sch {kind}s schedules create nightly 2027-01-01T10:30:00Z --type one_time --delete-after-run",
        ),
        see_also="next, validate, zones",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("expression", metavar="EXPRESSION")
    @space_option
    @schedule_options
    @click.option("--disabled", is_flag=True, help="Create it paused")
    @uses_api
    def create(
        session: Session, name: str, expression: str, space: str | None, *, disabled: bool, **options: Any
    ) -> None:
        text = expression.strip()
        defaults = {"expression": text, "expression_type": "cron_expression", "enabled": not disabled}
        work = find_work(session, kind, name, space)
        work.announce(session, "Creating a schedule for")
        with pointing_into(text):
            answer = session.api.send("POST", work.path("schedules"), body=defaults | schedule_body(options))
        session.screen.json(answer.text)
        session.screen.ok()
        session.screen.details(schedule_details(answer.row()))

    return create


def _list(kind: RefType) -> Command:
    @command(
        "list",
        f"List the schedules of a {kind}",
        aliases=("all",),
        examples=(f"sch {kind}s schedules list nightly",),
        see_also="schedules list",
    )
    @click.argument("name", metavar=kind.upper())
    @space_option
    @uses_api
    def list_schedules(session: Session, name: str, space: str | None) -> None:
        work = find_work(session, kind, name, space)
        work.announce(session, "Getting the schedules of")
        if session.screen.json_only:
            session.screen.json(session.api.get(work.path("schedules")).text)
            return
        rows = list(all_rows(session.api, work.path("schedules"), {}))
        session.screen.table(HEADINGS, schedule_rows(rows), empty="No schedules found.")

    return list_schedules


def _get(kind: RefType) -> Command:
    @command("get", "Show a schedule", examples=(f"sch {kind}s schedules get nightly GUID",))
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @space_option
    @uses_api
    def get(session: Session, name: str, schedule: str, space: str | None) -> None:
        work = find_work(session, kind, name, space)
        work.announce(session, "Getting a schedule of")
        answer = session.api.get(work.path("schedules", schedule))
        session.screen.json(answer.text)
        session.screen.details(schedule_details(answer.row()))

    return get


def _update(kind: RefType) -> Command:
    @command(
        "update",
        "Change a schedule\n\nThe next run is planned anew from now; nothing runs because of the change.",
        examples=(
            f"sch {kind}s schedules update nightly GUID --expression '30 2 * * *'",
            f"sch {kind}s schedules update nightly GUID --misfire catch_up --misfire-max-runs 100",
        ),
        see_also="schedules pause",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @click.option("--expression", metavar="EXPRESSION", help="Its new expression")
    @space_option
    @schedule_options
    @uses_api
    def update(
        session: Session, name: str, schedule: str, expression: str | None, space: str | None, **options: Any
    ) -> None:
        body = changes({"expression": expression and expression.strip(), **schedule_body(options)})
        work = find_work(session, kind, name, space)
        work.announce(session, "Changing a schedule of")
        with pointing_into(body.get("expression")):
            answer = session.api.send("PATCH", work.path("schedules", schedule), body=body)
        session.screen.json(answer.text)
        session.screen.ok()
        session.screen.details(schedule_details(answer.row()))

    return update


def _delete(kind: RefType) -> Command:
    @command(
        "delete",
        "Delete a schedule; its history stays",
        aliases=("del",),
        examples=(f"sch {kind}s schedules delete nightly GUID -f",),
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @space_option
    @force_option
    @uses_api
    def delete_schedule(session: Session, name: str, schedule: str, space: str | None, *, force: bool) -> None:
        work = find_work(session, kind, name, space)
        path, question = work.path("schedules", schedule), "Really delete the schedule {}?"
        delete(session, path, question, schedule, lambda: work.announce(session, "Deleting a schedule of"), force=force)

    return delete_schedule


def _history(kind: RefType) -> Command:
    @command(
        "history",
        "List the executions of a schedule, the newest first",
        examples=(f"sch {kind}s schedules history nightly GUID --state FAILED",),
        see_also="why, executions get",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @space_option
    @history_options
    @uses_api
    def history(session: Session, name: str, schedule: str, space: str | None, **filters: Any) -> None:
        work = find_work(session, kind, name, space)
        work.announce(session, "Getting the history of a schedule of")
        show_history(session, work.path("schedules", schedule, "history"), **filters)

    return history

"""What jobs and calls have in common: list, get, execute, delete, history."""

from typing import Any

import click

from sch.api import uses_api
from sch.commands.deleting import delete
from sch.commands.histories import history_options, show_history
from sch.grammar.commands import Command, Group, command
from sch.grammar.options import force_option, space_option, wait_options
from sch.names import find_work
from sch.remote.answers import Row, shown
from sch.remote.paging import all_rows
from sch.remote.session import Session
from sch.spaces import find_space
from sch.terminal.text import clean
from sch.terminal.times import shown_time
from sch.views.executions import execution_details
from sch.waiting import show_outcome, wait_for
from scheduler.domain.states import RefType

_COLUMNS = {
    RefType.JOB: ("name", "guid", "app_guid", "command"),
    RefType.CALL: ("name", "guid", "app_guid", "url"),
}
_TIMES = {"created_at", "updated_at"}
_HEADINGS = {"app_guid": "app", "space_guid": "space", "created_at": "created", "updated_at": "changed"}


def add_work_commands(group: Group, kind: RefType) -> None:
    """Add the shared commands to `sch jobs` or `sch calls`."""
    for make in (_list, _get, _execute, _delete, _history):
        group.add_command(make(kind))


def show_work(session: Session, row: Row) -> None:
    """Print every field of a job or call."""
    pairs = [(_name(name), _value(row, name)) for name in row]
    session.screen.details([(name, value) for name, value in pairs if value])


def _name(field: str) -> str:
    return _HEADINGS.get(field, field.replace("_", " "))


def _value(row: Row, field: str) -> str:
    return shown_time(row[field]) if field in _TIMES else shown(row, field)


def _list(kind: RefType) -> Command:
    @command(
        "list",
        f"List the {kind}s in a space",
        aliases=("all",),
        examples=(f"sch {kind}s list", f"sch {kind}s list dev", f"sch {kind}s list --json | jq -r '.resources[].guid'"),
        see_also="schedules list",
    )
    @click.argument("positional", metavar="[SPACE]", required=False)
    @space_option
    @uses_api
    def list_work(session: Session, positional: str | None, space: str | None) -> None:
        where, path = find_space(session, space or positional), f"/{kind}s"
        session.screen.heading(f"Getting {kind}s in space {{}} as {{}}...", where.label, session.user)
        query = {"space_guid": where.guid}
        if session.screen.json_only:
            session.screen.json(session.api.get(path, query).text)
            return
        columns = _COLUMNS[kind]
        rows = [[shown(row, name) for name in columns] for row in all_rows(session.api, path, query)]
        session.screen.table([_name(column) for column in columns], rows, empty=f"No {kind}s found.")

    return list_work


def _get(kind: RefType) -> Command:
    @command(
        "get",
        f"Show a {kind}",
        examples=(f"sch {kind}s get nightly",),
        see_also=f"{kind}s list, {kind}s schedules list",
    )
    @click.argument("name", metavar=kind.upper())
    @space_option
    @uses_api
    def get(session: Session, name: str, space: str | None) -> None:
        work = find_work(session, kind, name, space)
        work.announce(session, "Getting")
        answer = session.api.get(work.path())
        session.screen.json(answer.text)
        show_work(session, answer.row())

    return get


def _execute(kind: RefType) -> Command:
    @command(
        "execute",
        f"Run a {kind} now\n\nThe run goes on in the background. With --wait the command ends with it: with 0 when it "
        "has succeeded, with 1 when not.",
        examples=(f"sch {kind}s execute nightly", f"sch {kind}s execute nightly --wait --timeout 600"),
        see_also=f"executions watch, {kind}s history",
    )
    @click.argument("name", metavar=kind.upper())
    @space_option
    @click.option("--idempotency-key", metavar="KEY", help="The same key again gives the same execution")
    @wait_options
    @uses_api
    def execute(
        session: Session,
        name: str,
        space: str | None,
        idempotency_key: str | None,
        timeout: float | None,
        *,
        wait: bool,
    ) -> None:
        work = find_work(session, kind, name, space)
        work.announce(session, "Executing")
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else None
        start(session, work.path("execute"), body=None, headers=headers, wait=wait, timeout=timeout)

    return execute


def start(
    session: Session,
    path: str,
    *,
    body: dict[str, str] | None,
    headers: dict[str, str] | None = None,
    wait: bool,
    timeout: float | None,
) -> None:
    """Ask for an execution and show it, if wished as it has ended."""
    answer = session.api.send("POST", path, body=body, headers=headers)
    row = answer.row()
    if wait:
        session.screen.say(f"Execution {clean(shown(row, 'guid'))}")
        show_outcome(session, wait_for(session, shown(row, "guid"), seconds=timeout))
        return
    if shown(row, "state") == "SKIPPED":  # the overlap rule of a triggered schedule forbids it
        show_outcome(session, answer)
        return
    session.screen.json(answer.text)
    session.screen.ok()
    session.screen.details(execution_details(row))


def _delete(kind: RefType) -> Command:
    @command(
        "delete",
        f"Delete a {kind} and its schedules\n\nWhat waits is not started any more, what runs ends, the history stays.",
        aliases=("del",),
        examples=(f"sch {kind}s delete nightly", f"sch {kind}s delete nightly -f"),
        see_also=f"{kind}s schedules delete",
    )
    @click.argument("name", metavar=kind.upper())
    @space_option
    @force_option
    @uses_api
    def delete_work(session: Session, name: str, space: str | None, *, force: bool) -> None:
        work = find_work(session, kind, name, space)
        question = f"Really delete the {kind} {{}} and its schedules?"
        delete(session, work.path(), question, name, lambda: work.announce(session, "Deleting"), force=force)

    return delete_work


def _history(kind: RefType) -> Command:
    @command(
        "history",
        f"List the executions of a {kind}, the newest first",
        examples=(
            f"sch {kind}s history nightly",
            f"sch {kind}s history nightly --state FAILED --since 2027-01-01T00:00:00Z",
        ),
        see_also="executions get",
    )
    @click.argument("name", metavar=kind.upper())
    @space_option
    @history_options
    @uses_api
    def history(session: Session, name: str, space: str | None, **filters: Any) -> None:
        work = find_work(session, kind, name, space)
        work.announce(session, "Getting the history of")
        show_history(session, work.path("history"), **filters)

    return history

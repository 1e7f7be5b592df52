"""`why`: what became of one instant of a schedule."""

import click

from sch.api import uses_api
from sch.grammar.commands import Command, command
from sch.grammar.options import GUID, space_option
from sch.names import find_work
from sch.remote.answers import Row, shown
from sch.remote.session import Session
from sch.terminal.times import shown_time
from scheduler.domain.states import RefType


def why_command(kind: RefType) -> Command:
    """Return the command for the schedules of a job or call."""

    @command(
        "why",
        "Say why a schedule did or did not run at an instant",
        examples=(f"sch {kind}s schedules why nightly GUID 2027-01-01T02:00:00Z",),
        see_also="history, executions get",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @click.argument("instant", metavar="INSTANT")
    @space_option
    @uses_api
    def why(session: Session, name: str, schedule: str, instant: str, space: str | None) -> None:
        work = find_work(session, kind, name, space)
        work.announce(session, "Asking about a schedule of")
        answer = session.api.get(work.path("schedules", schedule, "why"), {"at": instant})
        session.screen.json(answer.text)
        session.screen.details(_facts(answer.row()))

    return why


def _facts(row: Row) -> list[tuple[str, str]]:
    facts = [
        ("at", shown_time(row.get("at"))),
        ("verdict", shown(row, "verdict").replace("_", " ")),
        ("explanation", shown(row, "explanation")),
        ("execution", shown(row, "execution_guid")),
        ("state", shown(row, "state")),
        ("due before", shown_time(row.get("previous_due"))),
        ("due after", shown_time(row.get("next_due"))),
    ]
    return [(name, value) for name, value in facts if value]

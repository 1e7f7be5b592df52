"""`sch validate`: what the scheduler thinks of an expression."""

from typing import Any

import click

from sch.api import uses_api
from sch.errors import UnsuccessfulError, UsageError
from sch.grammar.bodies import given
from sch.grammar.commands import command
from sch.grammar.options import space_option
from sch.grammar.schedule_options import type_option, zone_options
from sch.names import Work, find_work
from sch.remote.answers import Answer, shown
from sch.remote.expressions import pointing_into
from sch.remote.findings import finding_lines
from sch.remote.session import Session
from sch.views.analyses import HEADINGS, analysis_cells, analysis_details, warnings_of
from scheduler.domain.states import RefType

_COUNT = click.IntRange(0, 100)


@command(
    "validate",
    "Check an expression, or the stored schedules of a job or call\n\nWith --job or --call, H is resolved as for that "
    "job or call; without EXPRESSION all its schedules are checked. Ends with 1 when anything is invalid.",
    examples=(
        "sch validate '30 2 * * *' --time-zone Europe/Berlin --next 3",
        "sch validate 'H H(1-4) * * *' --job nightly",
        "sch validate --job nightly",
    ),
    see_also="next, zones",
)
@click.argument("expression", metavar="[EXPRESSION]", required=False)
@click.option("--job", metavar="JOB", help="Name or GUID of a job")
@click.option("--call", metavar="CALL", help="Name or GUID of a call")
@space_option
@type_option
@zone_options
@click.option("--from", "start", metavar="INSTANT", help="Count runs from this instant instead of now")
@click.option("--next", "next_", type=_COUNT, metavar="N", help="How many of the next runs to show (5)")
@click.option("--prev", type=_COUNT, metavar="N", help="How many of the previous runs to show (0)")
@uses_api
def validate(
    session: Session, expression: str | None, job: str | None, call: str | None, space: str | None,
    start: str | None, next_: int | None, **options: Any,
) -> None:  # fmt: skip
    """Validate."""
    work = _work(session, job, call, space)
    if expression is None and work is None:
        raise UsageError("Give an expression, or a job or call whose schedules are to be checked.")
    text = expression and expression.strip()
    ref = {"ref_type": work.kind, "ref_guid": work.guid} if work else {}
    body = given({"expression": text, **ref, "from": start, "next": next_, **options})
    session.screen.heading("Validating {} as {}...", text or (work.label if work else ""), session.user)
    with pointing_into(text):
        answer = session.api.send("POST", "/schedules/validate", body=body)
    session.screen.json(answer.text)
    show = _show_analysis if text else _show_schedules
    show(session, answer)


def _work(session: Session, job: str | None, call: str | None, space: str | None) -> Work | None:
    if job and call:
        raise UsageError("--job and --call exclude each other.")
    if job:
        return find_work(session, RefType.JOB, job, space)
    return find_work(session, RefType.CALL, call, space) if call else None


def _show_analysis(session: Session, answer: Answer) -> None:
    row, screen = answer.row(), session.screen
    if row.get("valid") is not True:
        screen.fail("The expression is not valid:", *finding_lines(row, shown(row, "expression")))
        raise UnsuccessfulError
    screen.ok()
    screen.details(analysis_details(row))
    for warning in warnings_of(row):
        screen.note(warning)


def _show_schedules(session: Session, answer: Answer) -> None:
    rows, screen = answer.rows(), session.screen
    screen.table(HEADINGS, [analysis_cells(row) for row in rows], empty="No schedules found.")
    invalid = sum(row.get("valid") is not True for row in rows)
    screen.say()
    if invalid:
        screen.fail(f"{invalid} of {len(rows)} schedules are not valid.")
        raise UnsuccessfulError
    screen.ok()

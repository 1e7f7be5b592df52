"""`sch next`: the next runs of an expression, or of many, worked out here."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import click

from sch.commands.zones import default_zone
from sch.errors import UnsuccessfulError, UsageError
from sch.grammar.bodies import given
from sch.grammar.commands import command
from sch.grammar.options import json_option
from sch.grammar.schedule_options import type_option, zone_options
from sch.offline.batch import answer_lines
from sch.offline.instants import read_instant
from sch.offline.next_runs import Asked, run_lines
from sch.offline.next_runs import next_runs as runs_of
from sch.remote.findings import finding_lines
from sch.surroundings import Surroundings
from sch.terminal.screen import Screen
from sch.views.analyses import analysis_details, warnings_of
from scheduler.domain.states import DayMatch, ExpressionType, OnFold, OnGap
from scheduler.timetable.analysis import Analysis
from scheduler.timetable.documents import analysis_document

_WORDS = {"expression_type": ExpressionType, "day_match": DayMatch, "on_gap": OnGap, "on_fold": OnFold}


@command(
    "next",
    "Show the next runs of an expression, without a scheduler\n\nWith --batch, JSON lines are read and each is "
    "answered with one: {id, expression, time_zone?, hash_key?, day_match?, on_gap?, on_fold?, after, count?} with "
    "{id, next} or {id, errors}.",
    examples=(
        "sch next '30 2 * * *' --time-zone Europe/Berlin",
        "sch next '0 0 29 2 *' --count 10 --from 2027-01-01T00:00:00Z",
        "sch next 'H 2 * * *' --hash-key 9a1c1a56-0d0c-4f86-9a8c-5d4d1f3b2f10",
        "sch next --batch questions.jsonl > answers.jsonl",
    ),
    see_also="validate, zones",
)
@click.argument("expression", metavar="[EXPRESSION]", required=False)
@type_option
@zone_options
@click.option("--from", "start", metavar="INSTANT", help="Count from this instant instead of now")
@click.option("--count", "-n", type=click.IntRange(0, 100_000), default=5, metavar="N", help="How many (5)")
@click.option("--hash-key", metavar="GUID", help="The job or call for which H is resolved")
@click.option(
    "--batch", type=click.File("r", encoding="utf-8"), metavar="FILE", help="Answer JSON lines; - reads standard input"
)
@json_option
@click.pass_obj
def next_runs(
    surroundings: Surroundings, /, expression: str | None, start: str | None, count: int, batch: Iterable[str] | None,
    **options: Any,
) -> None:  # fmt: skip
    """Show the runs."""
    zone = default_zone(surroundings.environment)
    if (expression is None) == (batch is None):
        raise UsageError("Give either an expression or --batch.")
    if batch is not None:
        _answer(surroundings.screen, batch, zone)
        return
    words: dict[str, Any] = {name: _WORDS.get(name, str)(value) for name, value in given(options).items()}
    asked = Asked(expression=str(expression).strip(), default_zone=zone, **words)
    _show(surroundings.screen, runs_of(asked, start=_instant(start), count=count))


def _answer(screen: Screen, batch: Iterable[str], zone: str) -> None:
    screen.json_only = True
    for line in answer_lines(batch, default_zone=zone):
        screen.json(line)


def _instant(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    try:
        return read_instant(text)
    except ValueError as error:
        raise UsageError(f"--from: {error}") from error


def _show(screen: Screen, analysis: Analysis) -> None:
    document = analysis_document(analysis)
    screen.json(json.dumps(document))
    if not analysis.valid:
        screen.fail("The expression is not valid:", *finding_lines(document, analysis.expression))
        raise UnsuccessfulError
    screen.details(analysis_details(document, next_runs=list(run_lines(analysis))))
    for warning in warnings_of(document):
        screen.note(warning)

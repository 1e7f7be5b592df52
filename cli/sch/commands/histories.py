"""The history of a job, call or schedule: the newest executions first."""

from collections.abc import Callable
from typing import Any

import click

from sch.remote.paging import more_than
from sch.remote.session import Session
from sch.views.executions import HEADINGS, execution_rows
from scheduler.domain.states import ExecutionState, Trigger

_OPTIONS = (
    click.option("--page", type=click.IntRange(1), default=1, metavar="N", help="Which page, counted from 1"),
    click.option("--limit", "-n", type=click.IntRange(1, 5_000), default=50, metavar="N", help="How many a page (50)"),
    click.option("--until", metavar="INSTANT", help="Not later than this, such as 2027-01-31T00:00:00Z"),
    click.option("--since", metavar="INSTANT", help="Not earlier than this"),
    click.option("--trigger", type=click.Choice([str(word) for word in Trigger]), help="Only started by this"),
    click.option(
        "--state",
        type=click.Choice([str(word) for word in ExecutionState], case_sensitive=False),
        help="Only those in this state",
    ),
)


def history_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the filters of a history."""
    for option in _OPTIONS:
        function = option(function)
    return function


def show_history(session: Session, path: str, *, limit: int, page: int, **filters: Any) -> None:
    """Print one page of the history at the path."""
    given = {name: value and str(value) for name, value in filters.items()}
    answer = session.api.get(path, {**given, "page": page, "per_page": limit})
    screen = session.screen
    if screen.json_only:
        screen.json(answer.text)
        return
    rows = answer.rows()
    if len(rows) > limit:  # a scheduler that knows no pages sends everything
        rows = rows[(page - 1) * limit : page * limit]
    screen.table(HEADINGS, execution_rows(rows), empty="No executions found.")
    screen.footer(more_than(answer, (page - 1) * limit + len(rows)))

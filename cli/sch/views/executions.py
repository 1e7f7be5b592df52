"""How executions are shown."""

from collections.abc import Iterator, Sequence

from sch.remote.answers import Row, shown
from sch.terminal.times import shown_span, shown_time

HEADINGS = ("guid", "state", "trigger", "scheduled", "started", "took", "message")


def execution_rows(rows: Sequence[Row]) -> list[list[str]]:
    """Return the cells of a table of executions."""
    return [
        [
            shown(row, "guid"),
            shown(row, "state"),
            shown(row, "trigger"),
            shown_time(row.get("scheduled_time")),
            shown_time(row.get("execution_start_time")),
            shown_span(row.get("execution_start_time"), row.get("execution_end_time")),
            shown(row, "message", "reason"),
        ]
        for row in rows
    ]


def execution_details(row: Row) -> list[tuple[str, str]]:
    """Return names and values of what is known about an execution."""
    return [(name, value) for name, value in _facts(row) if value]


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    yield "guid", shown(row, "guid")
    yield "job", shown(row, "job_guid")
    yield "call", shown(row, "call_guid")
    yield "schedule", shown(row, "schedule_guid")
    yield "state", shown(row, "state")
    yield "explanation", shown(row, "explanation")
    yield "reason", shown(row, "reason")
    yield "message", shown(row, "message")
    yield "trigger", shown(row, "trigger")
    yield "scheduled", shown_time(row.get("scheduled_time"))
    yield "covers", _covers(row)
    yield "created", shown_time(row.get("created_at"))
    yield "not before", shown_time(row.get("not_before"))
    yield "start by", shown_time(row.get("start_by"))
    yield "cancelled", shown_time(row.get("cancel_requested_at"))
    yield "started", shown_time(row.get("execution_start_time"))
    yield "ended", shown_time(row.get("execution_end_time"))
    yield "took", shown_span(row.get("execution_start_time"), row.get("execution_end_time"))
    yield "attempt", shown(row, "attempt")
    yield "task", shown(row, "task_guid")
    yield "status", shown(row, "http_status")
    yield "previous", shown(row, "previous_execution_guid")


def _covers(row: Row) -> str:
    count = row.get("covers_count")
    if not isinstance(count, int):
        return ""
    first, last = shown_time(row.get("covers_from")), shown_time(row.get("covers_to"))
    return f"{count} due instants, {first} to {last}" if count != 1 else f"1 due instant, {last}"

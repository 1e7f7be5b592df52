"""How schedules are shown."""

from collections.abc import Iterator, Sequence

from sch.remote.answers import Row, shown
from sch.terminal.times import shown_time

HEADINGS = ("guid", "expression", "time zone", "state", "next run", "last run")


def schedule_cells(row: Row) -> list[str]:
    """Return the cells of one schedule."""
    return [
        shown(row, "guid"),
        shown(row, "expression"),
        shown(row, "time_zone"),
        state_of(row),
        shown_time(row.get("next_run_at")),
        shown_time(row.get("last_run_at")),
    ]


def schedule_rows(rows: Sequence[Row]) -> list[list[str]]:
    """Return the cells of a table of schedules."""
    return [schedule_cells(row) for row in rows]


def schedule_details(row: Row) -> list[tuple[str, str]]:
    """Return names and values of what is known about a schedule."""
    return [(name, value) for name, value in _facts(row) if value]


def state_of(row: Row) -> str:
    """Return the state; a scheduler that names none still says whether the schedule is enabled."""
    enabled = {"true": "enabled", "false": "disabled"}.get(shown(row, "enabled"), "")
    return shown(row, "state") or enabled


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    yield "guid", shown(row, "guid")
    yield "job", shown(row, "job_guid")
    yield "call", shown(row, "call_guid")
    yield "expression", shown(row, "expression")
    yield "type", shown(row, "expression_type")
    yield "means", shown(row, "description")
    yield "time zone", shown(row, "time_zone")
    yield "state", state_of(row)
    yield "paused by", shown(row, "paused_by")
    yield "note", shown(row, "pause_note")
    yield "paused until", shown_time(row.get("paused_until"))
    yield "next run", shown_time(row.get("next_run_at"))
    yield "last run", shown_time(row.get("last_run_at"))
    yield "day match", shown(row, "day_match")
    yield "on gap", shown(row, "on_gap")
    yield "on fold", shown(row, "on_fold")
    yield "misfire", _misfire(row)
    yield "overlap", shown(row, "overlap")
    yield "start deadline", _seconds(row.get("start_deadline_seconds"))
    yield "not before", shown_time(row.get("start_time"))
    yield "not after", shown_time(row.get("end_time"))
    yield "max runs", shown(row, "max_runs")
    yield "delete after run", shown(row, "delete_after_run")
    yield "missed", shown(row, "missed_count")
    yield "skipped", shown(row, "skipped_count")
    yield "metadata", shown(row, "metadata") if row.get("metadata") else ""
    yield "created", shown_time(row.get("created_at"))
    yield "changed", shown_time(row.get("updated_at"))


def _misfire(row: Row) -> str:
    misfire = row.get("misfire")
    if not isinstance(misfire, dict):
        return ""
    grace = _seconds(misfire.get("grace_seconds"))
    return shown(misfire, "policy") + (f", after {grace} of grace" if grace else "")


def _seconds(value: object) -> str:
    return f"{value} s" if isinstance(value, int | float) and not isinstance(value, bool) else ""

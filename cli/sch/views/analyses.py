"""How the analysis of an expression is shown (timetables, section 6)."""

from collections.abc import Iterator

from sch.remote.answers import Row, shown
from sch.remote.findings import finding_lines
from sch.terminal.times import shown_time

HEADINGS = ("schedule", "expression", "valid", "enabled", "next run", "findings")


def analysis_cells(row: Row) -> list[str]:
    """Return the cells of one stored schedule's analysis."""
    return [
        shown(row, "schedule_guid"),
        shown(row, "expression"),
        shown(row, "valid"),
        shown(row, "enabled"),
        next(iter(_times(row, "next_runs")), ""),
        "; ".join(finding_lines(row, None)),
    ]


def analysis_details(row: Row, *, next_runs: list[str] | None = None) -> list[tuple[str, str]]:
    """Return names and values of what is known about a valid expression; `next_runs` if they are to look otherwise."""
    runs = _times(row, "next_runs") if next_runs is None else next_runs
    return [(name, value) for name, value in (*_facts(row), *_list("next runs", runs)) if value]


def warnings_of(row: Row) -> list[str]:
    """Return the warnings in words."""
    return finding_lines({"warnings": row.get("warnings")}, None)


def _facts(row: Row) -> Iterator[tuple[str, str]]:
    yield "expression", shown(row, "expression")
    yield "means", shown(row, "description")
    yield "time zone", shown(row, "location", "time_zone")
    for field in row.get("hashed_fields") or ():
        if isinstance(field, dict):
            yield f"H in {shown(field, 'field')}", shown(field, "resolved", "value")
    yield (
        "illustrative",
        "H depends on the job or call; --job or --call shows its own" if row.get("illustrative") else "",
    )
    yield from _list("previous runs", _times(row, "prev_runs"))


def _list(name: str, values: list[str]) -> Iterator[tuple[str, str]]:
    for number, value in enumerate(values):
        yield (name if number == 0 else ""), value


def _times(row: Row, name: str) -> list[str]:
    values = row.get(name)
    return [shown_time(value) for value in values] if isinstance(values, list) else []

"""What docs/timetables.md says is what happens: its tables are read and every row is tried."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from scheduler.domain.errors import Finding
from scheduler.domain.planning import Live, PlannedRow
from scheduler.domain.schedules import Definition, Misfire
from scheduler.domain.states import ExecutionState, ExpressionType, MisfirePolicy, OnFold, OnGap, Overlap
from scheduler.policies import admits, default_overlap
from scheduler.timetable import compile_timetable
from scheduler.timetable.analysis import Question, analyse
from scheduler.timetable.documents import instant_text
from scheduler.timetable.zones import UnknownZoneError, load_zone
from tests.unit.policies.making import plan_until_done, schedule

_PAGE = Path(__file__).parents[3] / "docs" / "timetables.md"
_NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

Row = tuple[str, ...]


def _tables() -> Iterator[list[Row]]:
    """Yield the page's tables, each with its heading row first and without code marks."""
    table: list[Row] = []
    for line in [*_PAGE.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("|"):
            cells = tuple(cell.strip() for cell in line.strip("|").split(" | "))
            if not set(line) <= set("|- "):
                table.append(cells)
        elif table:
            yield table
            table = []


def _rows(*heading: str) -> list[Row]:
    """Return the rows of the table with this heading."""
    (rows,) = [table[1:] for table in _tables() if table[0] == heading]
    return rows


def _code(cell: str) -> str:
    """Return the code in a cell."""
    match = re.search(r"`([^`]+)`", cell)
    assert match is not None, cell
    return match[1]


@pytest.mark.parametrize("row", _rows("expression", "means", "next runs"), ids=lambda row: _code(row[0]))
def test_an_expression_means_what_the_page_says(row: Row) -> None:
    expression, means, next_runs = row
    count = next_runs.count("Z")
    analysis = analyse(Definition(expression=_code(expression)), Question(now=_NOW, next_count=count))
    assert analysis.description == means
    assert ", ".join(instant_text(run) for run in analysis.next_runs) == next_runs


@pytest.mark.parametrize("row", _rows("expression", "`offset`", "message"), ids=lambda row: _code(row[0]))
def test_a_mistake_is_reported_as_the_page_says(row: Row) -> None:
    expression, offset, message = row
    (error,) = analyse(Definition(expression=_code(expression)), Question(now=_NOW)).errors
    assert (str(error.offset).lower(), error.message) == (offset, message)


@pytest.mark.parametrize("row", _rows("expression", "warning"), ids=lambda row: _code(row[0]))
def test_a_warning_is_given_as_the_page_says(row: Row) -> None:
    expression, message = row
    (warning,) = _warnings(_code(expression))
    assert warning.message == message


def _warnings(expression: str) -> tuple[Finding, ...]:
    return analyse(Definition(expression=expression), Question(now=_NOW)).warnings


@pytest.mark.parametrize("row", _rows("zone", "12:00 there in January is"), ids=lambda row: _code(row[0]))
def test_a_zone_is_known_or_refused_as_the_page_says(row: Row) -> None:
    name, expected = _code(row[0]), row[1]
    if expected == "refused":
        with pytest.raises(UnknownZoneError):
            load_zone(name)
    else:
        noon = datetime(2027, 1, 15, 12, tzinfo=load_zone(name))
        assert f"{noon.astimezone(UTC):%H:%M} UTC" == expected


@pytest.mark.parametrize(
    "row",
    _rows("expression", "zone", "`on_gap`", "`on_fold`", "from", "runs"),
    ids=lambda row: f"{_code(row[0])} {_code(row[2])} {_code(row[3])}",
)
def test_clock_changes_do_what_the_page_says(row: Row) -> None:
    expression, zone, on_gap, on_fold, start, expected = row
    definition = Definition(
        expression=_code(expression),
        time_zone=_code(zone),
        on_gap=OnGap(_code(on_gap)),
        on_fold=OnFold(_code(on_fold)),
    )
    count = expected.count(",") + 1
    runs = compile_timetable(definition, hash_key="").runs(datetime.fromisoformat(start), count)
    where = load_zone(_code(zone))
    assert ", ".join(f"{run.astimezone(where):%m-%d %H:%M %z}" for run in runs) == expected


def test_each_misfire_policy_does_what_the_page_says_about_eight_hours_away() -> None:
    said = dict(_misfire_rows())
    assert set(said) == set(MisfirePolicy)
    once, twice = plan_after_eight_hours(MisfirePolicy.RUN_ONCE)
    assert said[MisfirePolicy.RUN_ONCE] == (
        f"one run for {once.scheduled_time:%H:%M}, covering {once.covers_count} instants "
        f"from {once.covers_from:%H:%M} on; {twice.scheduled_time:%H:%M} runs normally"
    )
    skipped, normal = plan_after_eight_hours(MisfirePolicy.SKIP)
    assert skipped.state is ExecutionState.SKIPPED
    assert said[MisfirePolicy.SKIP] == (
        f"a skipped record covering {skipped.covers_count} instants from {skipped.covers_from:%H:%M} "
        f"to {skipped.covers_to:%H:%M}; {normal.scheduled_time:%H:%M} runs normally"
    )
    *caught_up, normal = plan_after_eight_hours(MisfirePolicy.CATCH_UP)
    assert said[MisfirePolicy.CATCH_UP] == (
        f"{len(caught_up)} runs from {caught_up[0].scheduled_time:%H:%M} to {caught_up[-1].scheduled_time:%H:%M}, "
        f"oldest first; {normal.scheduled_time:%H:%M} runs normally"
    )


@pytest.mark.parametrize(
    "row",
    _rows("`overlap`", "nothing under way", "one is running", "one is running, one waits"),
    ids=lambda row: _code(row[0]),
)
def test_each_overlap_rule_does_what_the_page_says(row: Row) -> None:
    rule, *outcomes = row
    overlap = Overlap(_code(rule))
    for said, (pending, running) in zip(outcomes, [(0, 0), (0, 1), (1, 1)], strict=True):
        assert admits(overlap, pending, running) is (said != "skipped")
    serial = overlap in {Overlap.WAIT, Overlap.SERIALIZE}
    assert ("waits for its turn" in outcomes) is serial
    defaults = [kind for kind in ExpressionType if default_overlap(kind) is overlap]
    assert ("default for cron" in rule, "default for fixed rates" in rule) == (
        ExpressionType.CRON in defaults,
        ExpressionType.FIXED_RATE in defaults,
    )


def plan_after_eight_hours(policy: MisfirePolicy) -> list[PlannedRow]:
    """Return the rows of a minutely schedule whose scheduler was away from 04:00:30 to 12:00:30."""
    now = _NOW + timedelta(seconds=30)
    minutely = schedule(created=now - timedelta(hours=8), misfire=Misfire(policy=policy))
    return plan_until_done(minutely, Live(), now)[1]


def _misfire_rows() -> Iterator[tuple[MisfirePolicy, str]]:
    for policy, becomes in _rows("`misfire.policy`", "becomes"):
        yield MisfirePolicy(_code(policy)), becomes

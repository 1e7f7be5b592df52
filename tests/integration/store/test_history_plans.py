"""Pages of a long history look at no more rows than they show, wherever they are and whatever they are filtered by."""

import json
from collections.abc import Iterator
from typing import Any, Self
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, event, text

from scheduler.domain.states import ExecutionState, Trigger
from scheduler.store.engine import open_engine
from scheduler.store.history import HistoryFilter, count_history, history
from scheduler.store.keyset import Keyset

_JOB, _SCHEDULE = uuid4(), uuid4()
_ROWS, _LIMIT = 20_000, 51

# The job's rows are older than those of thousands of others, and the failed ones are the oldest of them.
_FILL = text("""
    INSERT INTO executions (guid, ref_type, ref_guid, space_guid, schedule_guid, trigger, state, created_at)
    SELECT CAST(lpad(to_hex(number), 12, '0') || '70008000000000000000' AS uuid), 'job',
        CASE WHEN number <= :rows THEN CAST(:job AS uuid) ELSE gen_random_uuid() END, 'space',
        CASE WHEN number <= :rows AND number % 2 = 0 THEN CAST(:schedule AS uuid) END,
        CASE WHEN number % 2 = 1 AND number < 200 THEN 'manual' ELSE 'schedule' END,
        CASE WHEN number < 100 THEN 'FAILED' ELSE 'SUCCEEDED' END, now()
    FROM generate_series(1, :rows + 5000) AS number
""")


@pytest.fixture(scope="module")
def engine(postgres: Any) -> Iterator[Engine]:
    """A database with a long history."""
    url = postgres.create_database()
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.execute(_FILL, {"rows": _ROWS, "job": _JOB, "schedule": _SCHEDULE})
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("VACUUM ANALYZE executions"))
    yield engine
    engine.dispose()
    postgres.drop_database(url)


_MIDDLE = UUID(f"{_ROWS // 2:012x}70008000000000000000")
_FAILED, _SKIPPED = (ExecutionState.FAILED,), (ExecutionState.SKIPPED,)
_PAGES: dict[str, tuple[HistoryFilter, dict[str, Any], int]] = {
    "newest": (HistoryFilter(ref_guid=_JOB), {}, _LIMIT),
    "older": (HistoryFilter(ref_guid=_JOB), {"before": _MIDDLE}, _LIMIT),
    "newer": (HistoryFilter(ref_guid=_JOB), {"after": _MIDDLE}, _LIMIT),
    "failed": (HistoryFilter(ref_guid=_JOB, states=_FAILED), {}, _LIMIT),
    "skipped": (HistoryFilter(ref_guid=_JOB, states=_SKIPPED), {}, 0),
    "failed or skipped": (HistoryFilter(ref_guid=_JOB, states=_FAILED + _SKIPPED), {}, _LIMIT),
    "waiting": (HistoryFilter(ref_guid=_JOB, states=(ExecutionState.PENDING, ExecutionState.RUNNING)), {}, 0),
    "by hand": (HistoryFilter(ref_guid=_JOB, triggers=(Trigger.MANUAL,)), {}, _LIMIT),
    "of a schedule": (HistoryFilter(ref_guid=_JOB, schedule_guid=_SCHEDULE), {}, _LIMIT),
    "of a schedule, failed": (HistoryFilter(ref_guid=_JOB, schedule_guid=_SCHEDULE, states=_FAILED), {}, 49),
    "of nobody": (HistoryFilter(ref_guid=uuid4()), {}, 0),
}


@pytest.mark.parametrize("name", _PAGES)
def test_a_page_costs_what_it_shows(engine: Engine, name: str) -> None:
    wanted, edge, expected = _PAGES[name]
    with engine.connect() as connection, _Recorder(engine) as recorder:
        rows = history(connection, wanted, Keyset(limit=_LIMIT, **edge))
    assert len(rows) == expected
    assert [row.guid for row in rows] == sorted((row.guid for row in rows), reverse=True)
    assert recorder.rows_looked_at() <= 4 * _LIMIT


def test_a_page_in_the_distance_is_found_by_the_index_alone(engine: Engine) -> None:
    with engine.connect() as connection, _Recorder(engine) as recorder:
        rows = history(connection, HistoryFilter(ref_guid=_JOB), Keyset(limit=_LIMIT, offset=10_000))
    assert rows[0].guid == _MIDDLE
    assert "Index Only Scan" in recorder.scans()


def test_counting_stops_where_it_is_told_to(engine: Engine) -> None:
    with engine.connect() as connection:
        assert count_history(connection, HistoryFilter(ref_guid=_JOB), at_most=1_001) == 1_001
        assert count_history(connection, HistoryFilter(ref_guid=_JOB, states=_FAILED), at_most=1_001) == 99
        assert count_history(connection, HistoryFilter(ref_guid=_JOB, states=_FAILED + _SKIPPED), at_most=50) == 50


class _Recorder:
    """Remembers the statement that asks for executions, and explains it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._plan: dict[str, Any] = {}

    def __enter__(self) -> Self:
        event.listen(self._engine, "before_cursor_execute", self._explain)
        return self

    def __exit__(self, *_: object) -> None:
        event.remove(self._engine, "before_cursor_execute", self._explain)

    def _explain(self, _connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        explaining = cursor.connection.cursor()
        explaining.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + cursor.mogrify(statement, parameters).decode())
        plan = explaining.fetchone()[0]
        self._plan = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]

    def rows_looked_at(self) -> float:
        """Return how many rows all scans have touched, those included that they threw away."""
        scans = self._scans(self._plan)
        return float(sum(node["Actual Rows"] + node.get("Rows Removed by Filter", 0) for node in scans))

    def scans(self) -> set[str]:
        """Return the kinds of scans."""
        return {node["Node Type"] for node in self._scans(self._plan)}

    def _scans(self, node: dict[str, Any]) -> Iterator[dict[str, Any]]:
        if "Scan" in node["Node Type"] and node["Node Type"] != "Subquery Scan":
            yield node
        for inner in node.get("Plans", ()):
            yield from self._scans(inner)

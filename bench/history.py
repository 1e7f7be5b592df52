"""history: pages of a job's history with a million executions, through the API and in the database alone.

The target is 50 ms for 95 of 100 pages of 50 rows, wherever they are and whatever they are filtered by.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from sqlalchemy import Engine, text

from bench import report
from bench.api_client import Api, running_api
from bench.burst import installation
from bench.servers import servers
from scheduler.store.database import Database
from scheduler.store.history import HistoryFilter, history
from scheduler.store.keyset import Keyset

TARGET_MS = 50

# One execution a minute, in the order of their guids; 3 of 100 failed, 1 of 1,000 was run by hand.
_FILL = text("""
    INSERT INTO executions (guid, ref_type, ref_guid, space_guid, trigger, state, scheduled_time, created_at,
        execution_start_time, execution_end_time, attempt, duration_ms, task_guid)
    SELECT CAST(lpad(to_hex(CAST(extract(epoch FROM at) * 1000 AS bigint)), 12, '0') || '7000'
            || '8' || lpad(to_hex(number), 15, '0') AS uuid), 'job', :job, :space,
        CASE WHEN number % 1000 = 7 THEN 'manual' ELSE 'schedule' END,
        CASE WHEN number % 100 < 3 THEN 'FAILED' ELSE 'SUCCEEDED' END, at, at, at, at + interval '5 seconds', 1, 5000,
        'task-' || number
    FROM (SELECT number, now() - (:count - number) * interval '1 minute' AS at
          FROM generate_series(1, :count) AS number) AS rows
""")


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=300, help="of each kind")
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    with servers() as running:
        runs = []
        for _ in range(given.runs):
            with installation(running) as (engine, url, _amqp), running_api(running, url) as api:
                runs.append(_run(engine, api, given.rows, given.requests))
        slowest = max(value for run in runs for name, value in run.items() if name.endswith("_p95_ms"))
        report.publish("history", runs, rows=given.rows, target_p95_ms=TARGET_MS, slowest_p95_ms=slowest)
        print(f"   The slowest p95 is {slowest:.1f} ms; the target is {TARGET_MS} ms.")


def _run(engine: Engine, api: Api, rows: int, count: int) -> dict[str, float]:
    job = api.ask("POST", f"/jobs?app_guid={api.app.guid}", {"name": "old", "command": "true"}).json()["guid"]
    with engine.begin() as connection:
        connection.execute(_FILL, {"job": job, "space": api.app.space_guid, "count": rows})
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.execute(text("VACUUM ANALYZE executions"))
    figures = {"database_p95_ms": _in_the_database(Database(engine), UUID(job), count)}
    for name, ask in _pages(api, f"/jobs/{job}/history"):
        measured = api.measure(count, ask, clients=1)
        figures |= {f"{name}_{figure}": measured[figure] for figure in ("p50_ms", "p95_ms")}
    return figures


def _pages(api: Api, path: str) -> Iterator[tuple[str, Callable[[int], object]]]:
    yield "newest", lambda _: api.ask("GET", f"{path}?per_page=50")
    following = _Walk(api, f"{path}?per_page=50")
    yield "following_links", lambda _: following.step()
    yield "page_1000", lambda _: api.ask("GET", f"{path}?per_page=50&page=1000")
    yield "failed", lambda _: api.ask("GET", f"{path}?per_page=50&state=FAILED")
    yield "by_hand", lambda _: api.ask("GET", f"{path}?per_page=50&trigger=manual")
    yield "skipped_of_which_there_are_none", lambda _: api.ask("GET", f"{path}?per_page=50&state=SKIPPED")
    some_time_ago = (datetime.now(UTC) - timedelta(days=30)).strftime("%Y-%m-%dT%H:%M:%SZ")
    yield "until", lambda _: api.ask("GET", f"{path}?per_page=50&until={some_time_ago}")


class _Walk:
    """Someone who reads page after page."""

    def __init__(self, api: Api, path: str) -> None:
        self._api = api
        self._path = path

    def step(self) -> None:
        link = urlsplit(self._api.ask("GET", self._path).json()["pagination"]["next"]["href"])
        self._path = f"{link.path}?{link.query}"


def _in_the_database(database: Database, job: UUID, count: int) -> float:
    """Return the p95 of the statement alone, row objects included."""
    times = []
    edge: UUID | None = None
    for _ in range(count):
        began = time.perf_counter()
        with database.read() as connection:
            page = history(connection, HistoryFilter(ref_guid=job), Keyset(limit=51, before=edge))
        times.append(time.perf_counter() - began)
        edge = page[-1].guid
    return 1_000 * sorted(times)[int(count * 0.95)]


if __name__ == "__main__":
    main()

"""burst: 10,000 schedules due at one instant, one POST each to a local endpoint that answers 204."""

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, text

from bench import report
from bench.rows import add_calls, add_schedules, analyze, in_seconds
from bench.servers import Servers, servers
from bench.services import Meter, services
from scheduler.store.engine import open_engine
from tests.fixtures.session import wait_until

SCHEDULES = 10_000
CANARY = SCHEDULES + 1  # a schedule of a space of its own that is due each second
SERVICES = ("ticker", "call-runner", "call-runner")
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--schedules", type=int, default=SCHEDULES)
    parser.add_argument("--runners", type=int, default=2)
    parser.add_argument("--workers", type=int, default=20)
    given = parser.parse_args()
    names = ["ticker", *["call-runner"] * given.runners]
    variables = {"SCHEDULER_WORKERS": str(given.workers)}
    with servers() as running:
        runs = [burst(running, given.schedules, names, variables) for _ in range(given.runs)]
    report.publish("burst", runs, services=names, workers=given.workers)


@contextmanager
def installation(servers: Servers) -> Iterator[tuple[Engine, str, str]]:
    """Yield an engine on a fresh database, its URL, and the URL of a fresh vhost."""
    url, amqp = servers.postgres.create_database(), servers.rabbitmq.create_vhost()
    engine = open_engine(url)
    try:
        yield engine, url, amqp
    finally:
        engine.dispose()
        servers.postgres.drop_database(url)


def burst(servers: Servers, schedules: int, names: Sequence[str], variables: dict[str, str]) -> dict[str, Any]:
    """Run once and return the figures."""
    with installation(servers) as (engine, url, amqp):
        add_calls(engine, servers.endpoint, first=1, last=schedules)
        add_calls(engine, servers.endpoint, first=schedules + 1, last=schedules + 1, spaces=schedules + 7)
        analyze(engine)
        with services(servers, url, amqp, list(names), variables) as running:
            at = in_seconds(engine, 3)
            add_schedules(engine, first=1, last=schedules, expression="PT1H", anchor=at - HOUR, due=at)
            add_schedules(
                engine, first=schedules + 1, last=schedules + 1, prefix="canary", expression="PT1S",
                anchor=at - 3 * SECOND, due=at - 2 * SECOND, spaces=schedules + 7,
            )  # fmt: skip
            meter = Meter(servers, running)
            wait_until(lambda: _ended(engine, at) >= schedules, within=300, what="all have ended", every=0.5)
            cpu, memory = meter.cpu_seconds(), meter.megabytes()
        return _figures(engine, at, schedules, cpu, memory)


def _ended(engine: Engine, at: datetime) -> int:
    statement = "SELECT count(*) FROM executions WHERE state = 'SUCCEEDED' AND scheduled_time = :at"
    with engine.connect() as connection:
        return int(connection.execute(text(statement), {"at": at}).scalar_one())


_LATENESS = """
    SELECT extract(epoch FROM execution_start_time - scheduled_time), space_guid
    FROM executions WHERE execution_start_time IS NOT NULL
"""
_SPAN = """
    SELECT count(*) AS executions, count(DISTINCT (schedule_guid, scheduled_time)) AS occurrences,
        count(*) FILTER (WHERE state = 'SUCCEEDED' AND attempt = 1) AS succeeded,
        extract(epoch FROM max(execution_end_time) - :at) AS seconds
    FROM executions WHERE scheduled_time = :at
"""


def _figures(
    engine: Engine, at: datetime, schedules: int, cpu: dict[str, float], memory: dict[str, float]
) -> dict[str, Any]:
    with engine.connect() as connection:
        late = connection.execute(text(_LATENESS)).all()
        span = connection.execute(text(_SPAN), {"at": at}).one()
    canary = f"space-{schedules + 1}"
    lateness = report.percentiles([float(seconds) for seconds, space in late if space != canary])
    if not span.executions == span.occurrences:
        raise SystemExit(f"{span.executions} executions for {span.occurrences} occurrences")
    return {
        "calls_per_second": schedules / float(span.seconds),
        **{f"lateness_{name}_seconds": value for name, value in lateness.items()},
        "canary_lateness_max_seconds": max(float(seconds) for seconds, space in late if space == canary),
        **{f"cpu_seconds_{name}": value for name, value in cpu.items()},
        **{f"pss_mb_{name}": value for name, value in memory.items()},
    }


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print(f"\n{time.monotonic() - started:.0f} s in all")

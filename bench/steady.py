"""steady: 500 calls a second for a minute; how late do they start, spread over the second and all on whole seconds."""

import argparse
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, text

from bench import report
from bench.burst import SERVICES, installation
from bench.rows import add_calls, add_schedules, analyze, in_seconds
from bench.servers import Servers, servers
from bench.services import Meter, services
from tests.fixtures.session import wait_until

RATE = 500
SECONDS = 60
PERIOD = 10  # each schedule runs every ten seconds, so RATE * PERIOD schedules make the rate
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 1.0, float("inf"))


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=SECONDS)
    parser.add_argument("--rate", type=int, default=RATE)
    given = parser.parse_args()
    with servers() as running:
        for name, spread in (("steady-spread", True), ("steady-whole-seconds", False)):
            runs = [steady(running, given.rate, given.seconds, spread=spread) for _ in range(given.runs)]
            report.publish(name, runs, rate=given.rate, seconds=given.seconds, services=SERVICES)


def steady(servers: Servers, rate: int, seconds: int, *, spread: bool) -> dict[str, Any]:
    """Run once and return the figures."""
    schedules = rate * PERIOD
    with installation(servers) as (engine, url, amqp):
        add_calls(engine, servers.endpoint, first=1, last=schedules)
        analyze(engine)
        with services(servers, url, amqp, list(SERVICES)) as running:
            at = in_seconds(engine, 3)
            _schedule(engine, at, schedules, spread=spread)
            end = at + timedelta(seconds=seconds)
            meter = Meter(servers, running)
            expected = rate * seconds
            wait_until(
                lambda: _ended(engine, at, end) >= expected, within=seconds + 120, what="all have ended", every=1
            )
            cpu = meter.cpu_seconds()
        return _figures(engine, at, end, cpu)


def _schedule(engine: Engine, at: datetime, schedules: int, *, spread: bool) -> None:
    """Let an equal number of schedules be due in each second of the period, at any moment of it or at its start."""
    if spread:
        step = PERIOD * 1_000_000 // schedules
        add_schedules(
            engine, first=1, last=schedules, expression=f"PT{PERIOD}S",
            anchor=at - timedelta(seconds=PERIOD), due=at, spread=step,
        )  # fmt: skip
        return
    each = schedules // PERIOD
    for second in range(PERIOD):
        due = at + timedelta(seconds=second)
        add_schedules(
            engine, first=second * each + 1, last=(second + 1) * each,
            expression=f"{due.second % PERIOD}/{PERIOD} * * * * *", expression_type="cron_expression",
            anchor=at - timedelta(seconds=1), due=due,
        )  # fmt: skip


def _ended(engine: Engine, at: datetime, end: datetime) -> int:
    statement = (
        "SELECT count(*) FROM executions WHERE state = 'SUCCEEDED' AND scheduled_time >= :at AND scheduled_time < :end"
    )
    with engine.connect() as connection:
        return int(connection.execute(text(statement), {"at": at, "end": end}).scalar_one())


def _figures(engine: Engine, at: datetime, end: datetime, cpu: dict[str, float]) -> dict[str, Any]:
    statement = (
        "SELECT extract(epoch FROM execution_start_time - scheduled_time) FROM executions"
        " WHERE scheduled_time >= :at AND scheduled_time < :end"
    )
    with engine.connect() as connection:
        late = [float(value) for value in connection.execute(text(statement), {"at": at, "end": end}).scalars()]
    return {
        "calls": len(late),
        **{f"lateness_{name}_ms": value * 1_000 for name, value in report.percentiles(late).items()},
        **{f"cpu_seconds_{name}": value for name, value in cpu.items()},
        "histogram": {str(bucket): sum(1 for value in late if value <= bucket) for bucket in BUCKETS},
    }


if __name__ == "__main__":
    main()

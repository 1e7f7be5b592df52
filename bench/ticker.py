"""ticker: occurrences planned, inserted, published and confirmed per second, beside more and more idle schedules."""

import argparse
from datetime import timedelta

from sqlalchemy import Engine, text

from bench import report
from bench.rows import add_calls, add_schedules, analyze, in_seconds
from bench.servers import Servers, servers
from bench.services import Meter, services
from scheduler.store import facts
from scheduler.store.engine import open_engine
from scheduler.timetable.zones import tz_database_version
from tests.fixtures.session import wait_until

DUE = 20_000
_HOUR = timedelta(hours=1)
WINDOW = "100000"  # nobody consumes here, so the window must hold everything


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idle", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with servers() as running:
        for idle in given.idle:
            report.publish(f"ticker-{idle}", [_run(running, idle) for _ in range(given.runs)], idle_schedules=idle)


def _run(servers: Servers, idle: int) -> dict[str, float]:
    url, amqp = servers.postgres.create_database(), servers.rabbitmq.create_vhost()
    engine = open_engine(url)
    try:
        add_calls(engine, servers.endpoint, first=1, last=DUE)
        add_schedules(
            engine, first=1, last=idle, prefix="idle", expression="PT24H", anchor="2026-01-01", due="2099-01-01"
        )
        analyze(engine)
        _know_the_zones(engine)
        with services(servers, url, amqp, ["ticker"], {"RELAY_WINDOW": WINDOW}) as running:
            at = in_seconds(engine, 3)
            add_schedules(engine, first=1, last=DUE, expression="PT1H", anchor=at - _HOUR, due=at)
            meter = Meter(servers, running)
            wait_until(lambda: _count(engine, "queued_at IS NOT NULL") >= DUE, within=300, what="published", every=0.5)
            seconds = _seconds(engine, at)
            cpu = meter.cpu_seconds()
        return {"occurrences_per_second": DUE / seconds, "seconds": seconds, **{f"cpu_{k}": v for k, v in cpu.items()}}
    finally:
        engine.dispose()
        servers.postgres.drop_database(url)


def _know_the_zones(engine: Engine) -> None:
    """Spare the ticker from planning everything anew, as it does once when the tz database is another one."""
    with engine.begin() as connection:
        facts.remember(connection, facts.TZ_VERSION, tz_database_version())


def _count(engine: Engine, condition: str) -> int:
    with engine.connect() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM executions WHERE {condition}")).scalar_one())


def _seconds(engine: Engine, at: object) -> float:
    with engine.connect() as connection:
        span = connection.execute(text("SELECT max(queued_at) - :at FROM executions"), {"at": at}).scalar_one()
        return float(span.total_seconds())


if __name__ == "__main__":
    main()

"""What can be learned about a database without changing anything in it; for `scheduler doctor`."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Connection, text

from scheduler.store.facts import QUEUE_KIND

LEAST_VERSION = 13  # of PostgreSQL

_SERVER = text("""
    SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('server_version') AS version,
        clock_timestamp() AS now,
        coalesce((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS is_encrypted,
        has_schema_privilege(current_schema(), 'CREATE') AS may_create,
        to_regclass('executions') IS NOT NULL AS has_tables
""")
_FACT = text("SELECT value FROM facts WHERE name = :name")
_LIVING = text("""
    SELECT service, count(*) AS number FROM processes WHERE seen_at > now() - make_interval(secs => :seconds)
    GROUP BY service
""")
_OVERDUE = text("SELECT now() - min(next_fire_at) FROM schedules WHERE next_fire_at <= now()")


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """A PostgreSQL server and what we may do there."""

    major: int
    version: str
    now: datetime
    is_encrypted: bool
    may_create: bool
    has_tables: bool


def look_at_server(connection: Connection) -> Server:
    """Return what the server says about itself, and the present by its clock."""
    row = connection.execute(_SERVER).one()
    return Server(**{name: getattr(row, name) for name in Server.__slots__})


def known_queue_kind(connection: Connection) -> str | None:
    """Return the kind of queue with which the database has been used, None when it has not been used yet."""
    kind: str | None = connection.execute(_FACT, {"name": QUEUE_KIND}).scalar_one_or_none()
    return kind


def living_processes(connection: Connection, *, within_seconds: float) -> dict[str, int]:
    """Return how many processes of each service have shown a sign of life."""
    return {row.service: row.number for row in connection.execute(_LIVING, {"seconds": within_seconds})}


def longest_overdue(connection: Connection) -> timedelta:
    """Return for how long the schedule that waits longest has been waiting to be planned."""
    waiting: timedelta | None = connection.execute(_OVERDUE).scalar_one()
    return waiting or timedelta()

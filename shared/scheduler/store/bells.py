"""NOTIFY and LISTEN: rings that make somebody look at once. A lost ring costs a second, never a run."""

import select
from collections.abc import Callable, Sequence

import psycopg2
from sqlalchemy import Connection, text

from scheduler.store.engine import connect_arguments, sqlalchemy_url

RELAY = "scheduler_relay"  # a PENDING row may be publishable
TICK = "scheduler_tick"  # a schedule may be due earlier than the ticker thinks

_NOTIFY = text("SELECT pg_notify(:channel, '')")
_LOOK_UP_SECONDS = 0.5


def ring(connection: Connection, channel: str) -> None:
    """Ring when the transaction commits."""
    connection.execute(_NOTIFY, {"channel": channel})


def listen(
    database_url: str,
    channels: Sequence[str],
    on_ring: Callable[[str], None],
    *,
    stopped: Callable[[], bool],
) -> None:
    """Call `on_ring` with the channel of each ring until `stopped`.

    Raises psycopg2.OperationalError when the database goes away; the caller comes back.
    """
    url = sqlalchemy_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg2.connect(url, **connect_arguments("ocf-scheduler listening"))
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            for channel in channels:
                cursor.execute(f'LISTEN "{channel}"')
        while not stopped():
            select.select([connection], [], [], _LOOK_UP_SECONDS)
            connection.poll()
            _deliver(connection, on_ring)
    finally:
        connection.close()


def _deliver(connection: "psycopg2.extensions.connection", on_ring: Callable[[str], None]) -> None:
    for channel in {notice.channel for notice in connection.notifies}:
        on_ring(channel)
    connection.notifies.clear()

"""The queue's connections: plain ones, each statement its own transaction, a vanished server soon noticed."""

from typing import Any

import psycopg2
from psycopg2.extensions import connection as Connection  # noqa: N812 psycopg2 spells its classes so

from scheduler.domain.states import RefType

CONNECT_TIMEOUT_SECONDS = 5
_OPTIONS: dict[str, Any] = {
    "connect_timeout": CONNECT_TIMEOUT_SECONDS,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # milliseconds
}


def ring_channel(kind: RefType) -> str:
    """Return the channel on which the relay rings when it has stamped rows of this kind."""
    return f"scheduler_{kind}"


def connect(database_url: str, name: str) -> Connection:
    """Return a connection in autocommit mode. Raises psycopg2.OperationalError."""
    # The scheme may name a driver for SQLAlchemy, which libpq does not understand.
    url = database_url.replace("+psycopg2", "", 1)
    connection: Connection = psycopg2.connect(url, application_name=name, **_OPTIONS)
    connection.autocommit = True
    return connection

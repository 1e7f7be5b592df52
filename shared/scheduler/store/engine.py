"""Connections to PostgreSQL: pooled, kept alive, and never left idle in a transaction."""

from typing import Any

from sqlalchemy import Engine, create_engine, make_url
from sqlalchemy.engine import URL

CONNECT_TIMEOUT_SECONDS = 5
# A ticker that is stopped in a transaction loses its locks after this; nobody else ever pauses in one for long.
IDLE_IN_TRANSACTION_SECONDS = 15
# A peer that vanished without a word is noticed within 10 + 3 * 5 seconds, a lost write within 20.
KEEPALIVES = {"keepalives": 1, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
TCP_USER_TIMEOUT_MILLISECONDS = 20_000


def sqlalchemy_url(database_url: str) -> URL:
    """Return the URL with psycopg2 as its driver; Cloud Foundry writes `postgres://` (checklist 309).

    Raises sqlalchemy.exc.ArgumentError for what is no URL.
    """
    return make_url(database_url).set(drivername="postgresql+psycopg2")


def connect_arguments(application_name: str) -> dict[str, Any]:
    """Return what every connection to the database is opened with."""
    return {
        "connect_timeout": CONNECT_TIMEOUT_SECONDS,
        "application_name": application_name,
        "tcp_user_timeout": TCP_USER_TIMEOUT_MILLISECONDS,
        **KEEPALIVES,
    }


def open_engine(
    database_url: str,
    *,
    pool_size: int = 5,
    lock_timeout_seconds: float = 10,
    application_name: str = "ocf-scheduler",
    pre_ping: bool = False,
    for_prepared: bool = False,
) -> Engine:
    """Return a pool of connections to the database; nothing is connected yet.

    `for_prepared`: statements are planned once (`scheduler.store.prepared`), so rows are found by an index even if the
    plan was made while the table was empty.
    """
    options = {
        "lock_timeout": int(lock_timeout_seconds * 1_000),
        "idle_in_transaction_session_timeout": IDLE_IN_TRANSACTION_SECONDS * 1_000,
        "timezone": "UTC",
        **({"enable_seqscan": "off"} if for_prepared else {}),
    }
    settings = " ".join(f"-c {name}={value}" for name, value in options.items())
    return create_engine(
        sqlalchemy_url(database_url),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=CONNECT_TIMEOUT_SECONDS,
        pool_pre_ping=pre_ping,
        isolation_level="READ COMMITTED",
        hide_parameters=True,  # among them are secrets, and errors are logged
        connect_args={**connect_arguments(application_name), "options": settings},
    )

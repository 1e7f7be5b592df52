"""What an installation remembers beyond its rows."""

from sqlalchemy import Connection, text

QUEUE_KIND = "queue_kind"
TZ_VERSION = "tz_version"
SYSTEM_JOB = "system_job"  # followed by its name: the instant that was last dealt with

_REMEMBER = text("INSERT INTO facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING")
_CHANGE = text("""
    INSERT INTO facts (name, value) VALUES (:name, :value)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE facts.value <> excluded.value
""")
_ADVANCE = text("""
    INSERT INTO facts (name, value) VALUES (:name, :value)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE facts.value < excluded.value
""")
_READ = text("SELECT value FROM facts WHERE name = :name")


def remember(connection: Connection, name: str, value: str) -> str:
    """Store the fact if it is new; return what is stored."""
    connection.execute(_REMEMBER, {"name": name, "value": value})
    return str(connection.execute(_READ, {"name": name}).scalar_one())


def change(connection: Connection, name: str, value: str) -> bool:
    """Store the fact; return whether it was another one before."""
    return connection.execute(_CHANGE, {"name": name, "value": value}).rowcount == 1


def advance(connection: Connection, name: str, value: str) -> bool:
    """Store the fact unless it is as far already; return whether it was not. Values are compared as words."""
    return connection.execute(_ADVANCE, {"name": name, "value": value}).rowcount == 1

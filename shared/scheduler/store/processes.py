"""One row per generation of a process: its heartbeat, and nothing per execution."""

from uuid import UUID

from sqlalchemy import Connection, text

_BEAT = text("""
    INSERT INTO processes (guid, service, host, version, started_at, seen_at)
    VALUES (:guid, :service, :host, :version, now(), now())
    ON CONFLICT (guid) DO UPDATE SET seen_at = excluded.seen_at
""")
_LEAVE = text("""
    DELETE FROM processes WHERE guid = :guid AND NOT EXISTS (
        SELECT FROM executions WHERE runner = :guid AND state = 'RUNNING' AND task_guid IS NULL
    )
""")


def beat(connection: Connection, guid: UUID, *, service: str, host: str, version: str) -> None:
    """Say that the process lives."""
    connection.execute(_BEAT, {"guid": guid, "service": service, "host": host, "version": version})


def leave(connection: Connection, guid: UUID) -> None:
    """Take back the row of a process that ends, unless runs of its own are still open."""
    connection.execute(_LEAVE, {"guid": guid})

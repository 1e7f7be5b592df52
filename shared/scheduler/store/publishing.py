"""The relay's statements: which rows may be published, and that they were.

A row lock is the lease of a publishing relay. Spaces take turns, so that one space's flood does not bury another's
single run; of a serial schedule only the oldest waiting row is published, and only while none of them runs.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from scheduler.domain.states import RefType
from scheduler.messages import Bell
from scheduler.store.arrays import array
from scheduler.store.turns import in_turns

_MAX_SPACES = 1_000

# A skip scan: one index probe per waiting space, however many rows wait in each.
_SPACES = text("""
    WITH RECURSIVE spaces (space_guid) AS (
        (SELECT space_guid FROM executions
         WHERE ref_type = :kind AND space_guid > :after AND state = 'PENDING' AND queued_at IS NULL AND NOT serial
         ORDER BY space_guid LIMIT 1)
        UNION ALL
        SELECT (SELECT e.space_guid FROM executions e
                WHERE e.ref_type = :kind AND e.space_guid > s.space_guid
                    AND e.state = 'PENDING' AND e.queued_at IS NULL AND NOT e.serial
                ORDER BY e.space_guid LIMIT 1)
        FROM spaces s WHERE s.space_guid IS NOT NULL
    )
    SELECT space_guid FROM spaces WHERE space_guid IS NOT NULL LIMIT :limit
""")

_PLAIN = text("""
    SELECT e.guid, s.space_guid FROM unnest(CAST(:spaces AS text[])) AS s (space_guid)
    CROSS JOIN LATERAL (
        SELECT guid FROM executions
        WHERE ref_type = :kind AND space_guid = s.space_guid
            AND state = 'PENDING' AND queued_at IS NULL AND NOT serial AND coalesce(not_before, created_at) <= now()
        ORDER BY coalesce(not_before, created_at), guid LIMIT :per_space FOR UPDATE SKIP LOCKED
    ) e LIMIT :limit
""")

_SERIAL_HEADS = text("""
    WITH RECURSIVE waiting (schedule_guid) AS (
        (SELECT schedule_guid FROM executions
         WHERE ref_type = :kind AND state = 'PENDING' AND queued_at IS NULL AND serial
         ORDER BY schedule_guid LIMIT 1)
        UNION ALL
        SELECT (SELECT e.schedule_guid FROM executions e
                WHERE e.ref_type = :kind AND e.schedule_guid > w.schedule_guid
                    AND e.state = 'PENDING' AND e.queued_at IS NULL AND e.serial
                ORDER BY e.schedule_guid LIMIT 1)
        FROM waiting w WHERE w.schedule_guid IS NOT NULL
    )
    SELECT h.guid FROM waiting w CROSS JOIN LATERAL (
        SELECT * FROM executions e
        WHERE e.ref_type = :kind AND e.schedule_guid = w.schedule_guid
            AND e.state = 'PENDING' AND e.queued_at IS NULL AND e.serial
        ORDER BY coalesce(e.scheduled_time, e.created_at), e.guid LIMIT 1
    ) h
    WHERE coalesce(h.not_before, h.created_at) <= now() AND NOT EXISTS (
        SELECT FROM executions o
        WHERE o.ref_guid = h.ref_guid AND o.schedule_guid = h.schedule_guid AND o.serial AND o.guid <> h.guid
            AND o.state IN ('PENDING', 'RUNNING')
            AND (o.state = 'RUNNING' OR (coalesce(o.scheduled_time, o.created_at), o.guid)
                < (coalesce(h.scheduled_time, h.created_at), h.guid))
    )
    LIMIT :limit
""")

_LOCK = text("""
    SELECT guid FROM executions WHERE guid = ANY(CAST(:guids AS uuid[])) AND state = 'PENDING' AND queued_at IS NULL
    ORDER BY guid FOR UPDATE SKIP LOCKED
""")

_STAMP = text("""
    UPDATE executions SET queued_at = clock_timestamp(), publish_count = publish_count + 1
    WHERE guid = ANY(CAST(:guids AS uuid[]))
""")

# For the queue that lives in the same table: stamping is publishing.
_NOTIFY = text("SELECT pg_notify(:channel, '')")

# The distance between two publications of a row doubles, five times at most.
_REQUEUE_LOST = text("""
    UPDATE executions SET queued_at = NULL WHERE guid IN (
        SELECT guid FROM executions
        WHERE ref_type = :kind AND state = 'PENDING' AND queued_at IS NOT NULL
            AND queued_at < now() - :seconds * interval '1 second'
            AND queued_at < now() - :seconds * power(2, least(greatest(publish_count, 1), 6) - 1) * interval '1 second'
            AND (:empty OR queued_at < CAST(:overtaken_by AS timestamptz) - :seconds * interval '1 second')
        ORDER BY queued_at LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
""")

# The newest message that a living process has started on lately.
_NEWEST_STARTED = text("""
    SELECT max(e.queued_at) FROM processes p CROSS JOIN LATERAL (
        SELECT queued_at FROM executions e
        WHERE e.state = 'RUNNING' AND e.task_guid IS NULL AND e.runner = p.guid AND e.ref_type = :kind
        ORDER BY e.execution_start_time DESC LIMIT 20
    ) e
""")


@dataclass(frozen=True, slots=True)
class Publishable:
    """Rows that this transaction has locked for publishing."""

    bells: list[Bell]
    last_space: str  # behind which the next pass goes on
    more: bool  # whether others may be waiting


def lock_publishable(connection: Connection, kind: RefType, *, limit: int, after_space: str) -> Publishable:
    """Lock up to `limit` rows that may be published."""
    spaces = _waiting_spaces(connection, kind, after=after_space, limit=_MAX_SPACES)
    plain = _lock_plain(connection, kind, spaces, limit=limit)
    room = max(limit - len(plain), limit // 10, 1)
    serial = _lock_serial(connection, kind, limit=room)
    per_space = Counter(space for space, _ in plain)
    is_full = len(plain) >= limit
    served = [plain[-1][0]] if is_full else spaces[-1:]
    return Publishable(
        bells=[Bell(execution=guid, kind=kind) for guid in [*_guids(plain), *serial]],
        last_space="".join(served),
        more=is_full
        or max(per_space.values(), default=0) == _share(limit, spaces)
        or len(spaces) == _MAX_SPACES
        or len(serial) == room,
    )


def _guids(rows: Sequence[tuple[str, UUID]]) -> list[UUID]:
    return [guid for _, guid in in_turns(rows, lambda row: row[0])]


def _lock_plain(
    connection: Connection, kind: RefType, spaces: Sequence[str], *, limit: int
) -> Sequence[tuple[str, UUID]]:
    if not spaces:
        return []
    parameters = {"kind": kind, "spaces": spaces, "per_space": _share(limit, spaces), "limit": limit}
    return [(row.space_guid, row.guid) for row in connection.execute(_PLAIN, parameters)]


def _share(limit: int, spaces: Sequence[str]) -> int:
    """Return how many rows each space may have."""
    return -(-limit // max(1, len(spaces)))


def _waiting_spaces(connection: Connection, kind: RefType, *, after: str, limit: int) -> list[str]:
    """Return spaces with waiting rows, beginning behind `after` and going on from the first one."""
    spaces = list(connection.execute(_SPACES, {"kind": kind, "after": after, "limit": limit}).scalars())
    if after and len(spaces) < limit:
        wrapped = connection.execute(_SPACES, {"kind": kind, "after": "", "limit": limit - len(spaces)}).scalars()
        spaces += [space for space in wrapped if space <= after]
    return spaces


def _lock_serial(connection: Connection, kind: RefType, *, limit: int) -> list[UUID]:
    heads = connection.execute(_SERIAL_HEADS, {"kind": kind, "limit": limit}).scalars().all()
    if not heads:
        return []
    return list(connection.execute(_LOCK, {"guids": [str(guid) for guid in heads]}).scalars())


def stamp_published(connection: Connection, guids: Sequence[UUID], *, channel: str | None = None) -> None:
    """Record that the messages of these rows are with the queue; `channel`: ring the PostgreSQL queue's consumers."""
    if not guids:
        return
    connection.execute(_STAMP, {"guids": array(guids)})
    if channel:
        connection.execute(_NOTIFY, {"channel": channel})


def requeue_lost(connection: Connection, kind: RefType, *, queue_is_empty: bool, presumed_lost_seconds: float) -> int:
    """Let rows be published again whose message must be lost; return how many.

    That is: queued for long, and either the queue has nothing ready or a row queued much later has started.
    """
    overtaken_by: datetime | None = connection.execute(_NEWEST_STARTED, {"kind": kind}).scalar()
    parameters = {
        "kind": kind,
        "seconds": presumed_lost_seconds,
        "empty": queue_is_empty,
        "overtaken_by": overtaken_by,
    }
    return connection.execute(_REQUEUE_LOST, parameters).rowcount

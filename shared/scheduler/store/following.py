"""Running tasks: their GUIDs are recorded, and followers take the ones that are due for a look.

Taking sets `next_poll_at` ahead, which is the follower's lease: it lapses by itself if the follower dies.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, text

from scheduler.domain.claims import Finish
from scheduler.domain.states import ExecutionState
from scheduler.store.bells import RELAY, ring
from scheduler.store.messages import storable

_RECORD = text("""
    UPDATE executions SET task_guid = :task, next_poll_at = now() + :delay * interval '1 second', look_up_first = false
    WHERE guid = :guid AND claim_token = :token AND state = 'RUNNING' AND (task_guid IS NULL OR task_guid = :task)
    RETURNING cancel_requested_at IS NOT NULL AS cancel_requested
""")

_READ_TASK = text("SELECT state, task_guid FROM executions WHERE guid = :guid")

_TAKE = text("""
    UPDATE executions e SET next_poll_at = now() + :lease * interval '1 second'
    FROM (
        SELECT guid FROM executions
        WHERE state = 'RUNNING' AND task_guid IS NOT NULL AND next_poll_at <= now()
        ORDER BY next_poll_at LIMIT :limit FOR UPDATE SKIP LOCKED
    ) due
    WHERE e.guid = due.guid
    RETURNING e.guid, e.task_guid, e.ref_guid, e.serial, e.execution_start_time, e.cancel_requested_at,
        now() - e.execution_start_time AS age
""")

_FINISH = text("""
    UPDATE executions e SET state = u.state, reason = u.reason, message = u.message,
        duration_ms = 1000 * extract(epoch FROM clock_timestamp() - e.execution_start_time),
        execution_end_time = clock_timestamp(), next_poll_at = NULL
    FROM unnest(CAST(:guids AS uuid[]), CAST(:tasks AS text[]), CAST(:states AS text[]), CAST(:reasons AS text[]),
        CAST(:messages AS text[])) AS u (guid, task_guid, state, reason, message)
    WHERE e.guid = u.guid AND e.task_guid = u.task_guid AND e.state = 'RUNNING'
""")

# A cancellation that was asked for during the look is not to wait for the next one.
_LOOK_AGAIN = text("""
    UPDATE executions e SET next_poll_at = now() + interval '1 second'
        * CASE WHEN e.cancel_requested_at IS NULL OR u.cancel_requested THEN u.delay ELSE 0 END
    FROM unnest(CAST(:guids AS uuid[]), CAST(:tasks AS text[]), CAST(:delays AS double precision[]),
        CAST(:cancels AS boolean[])) AS u (guid, task_guid, delay, cancel_requested)
    WHERE e.guid = u.guid AND e.task_guid = u.task_guid AND e.state = 'RUNNING'
""")


@dataclass(frozen=True, kw_only=True, slots=True)
class Followed:
    """A running task that this follower looks after until its lease lapses."""

    guid: UUID
    task_guid: str
    ref_guid: UUID
    serial: bool
    started_at: datetime
    age_seconds: float
    cancel_requested: bool


def record_task(connection: Connection, guid: UUID, token: UUID, task_guid: str, *, poll_seconds: float) -> bool | None:
    """Record the task of a claimed execution; return whether its cancellation was asked for meanwhile.

    None: no row matched, so the execution is no longer this runner's.
    """
    parameters = {"guid": guid, "token": token, "task": task_guid, "delay": poll_seconds}
    cancel_requested: bool | None = connection.execute(_RECORD, parameters).scalar()
    return cancel_requested


def recorded_task(connection: Connection, guid: UUID) -> tuple[ExecutionState, str | None] | None:
    """Return an execution's state and the task it names."""
    row = connection.execute(_READ_TASK, {"guid": guid}).one_or_none()
    return (ExecutionState(row.state), row.task_guid) if row else None


def take_due_tasks(connection: Connection, *, limit: int, lease_seconds: float) -> list[Followed]:
    """Take tasks whose next look is due, longest due first."""
    rows = connection.execute(_TAKE, {"limit": limit, "lease": lease_seconds})
    return [
        Followed(
            guid=row.guid,
            task_guid=row.task_guid,
            ref_guid=row.ref_guid,
            serial=row.serial,
            started_at=row.execution_start_time,
            age_seconds=row.age.total_seconds(),
            cancel_requested=row.cancel_requested_at is not None,
        )
        for row in rows
    ]


def finish_tasks(connection: Connection, ended: Sequence[tuple[Followed, Finish]]) -> int:
    """Write how tasks ended; return how many matched."""
    if not ended:
        return 0
    parameters = {
        **_keys([followed for followed, _ in ended]),
        "states": [finish.state for _, finish in ended],
        "reasons": [finish.reason for _, finish in ended],
        "messages": [storable(finish.message) for _, finish in ended],
    }
    if any(followed.serial for followed, _ in ended):
        ring(connection, RELAY)
    return connection.execute(_FINISH, parameters).rowcount


def look_again(connection: Connection, looks: Sequence[tuple[Followed, float]]) -> None:
    """Set when each task is looked at next, in seconds from now."""
    if looks:
        parameters = {
            **_keys([followed for followed, _ in looks]),
            "delays": [delay for _, delay in looks],
            "cancels": [followed.cancel_requested for followed, _ in looks],
        }
        connection.execute(_LOOK_AGAIN, parameters)


def _keys(followed: Sequence[Followed]) -> dict[str, list[str]]:
    return {"guids": [str(each.guid) for each in followed], "tasks": [each.task_guid for each in followed]}

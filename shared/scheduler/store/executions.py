"""Executions one by one: created by hand, read, cancelled."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, select, text

from scheduler.domain.executions import Execution
from scheduler.domain.guids import new_guid
from scheduler.domain.states import ExecutionState, Reason, RefType, Trigger
from scheduler.store.bells import RELAY, ring
from scheduler.store.tables import executions

MANUAL_START_DEADLINE_SECONDS = 86_400

# The row lock on the job or call holds off its deletion until this run exists, which the deletion then ends.
_EXECUTE = {
    kind: text(f"""
        INSERT INTO executions (guid, ref_type, ref_guid, space_guid, trigger, state, created_at, idempotency_key,
            start_by)
        SELECT :guid, '{kind}', w.guid, w.space_guid, 'manual', 'PENDING', now(), :key,
            now() + {MANUAL_START_DEADLINE_SECONDS} * interval '1 second'
        FROM {kind}s w WHERE w.guid = :ref_guid FOR KEY SHARE OF w
        ON CONFLICT (ref_guid, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
        RETURNING *
    """)  # noqa: S608 - composed of this module's own constants
    for kind in RefType
}

_TRIGGER = text(f"""
    INSERT INTO executions (guid, ref_type, ref_guid, space_guid, schedule_guid, definition_version, trigger, state,
        reason, serial, created_at, execution_end_time, idempotency_key, start_by)
    SELECT :guid, s.ref_type, s.ref_guid, s.space_guid, s.guid, s.definition_version, 'trigger', :state,
        :reason, :state = 'PENDING' AND s.overlap IN ('wait', 'serialize'), now(),
        CASE :state WHEN 'SKIPPED' THEN now() END, :key,
        CASE WHEN :state = 'PENDING' AND s.overlap <> 'serialize'
            THEN now() + {MANUAL_START_DEADLINE_SECONDS} * interval '1 second' END
    FROM schedules s WHERE s.guid = :schedule_guid
    RETURNING *
""")  # noqa: S608 - likewise

# A row that may have a task is ended by a runner only, which looks the task up first. A follower looks at once.
_CANCEL = text("""
    UPDATE executions SET cancel_requested_at = coalesce(cancel_requested_at, now()),
        state = CASE WHEN state = 'PENDING' AND NOT look_up_first THEN 'FAILED' ELSE state END,
        reason = CASE WHEN state = 'PENDING' AND NOT look_up_first THEN 'cancelled' ELSE reason END,
        message = CASE WHEN state = 'PENDING' AND NOT look_up_first
            THEN 'cancelled before it was started' ELSE message END,
        execution_end_time = CASE WHEN state = 'PENDING' AND NOT look_up_first THEN now() END,
        next_poll_at = CASE WHEN state = 'RUNNING' AND task_guid IS NOT NULL THEN now() ELSE next_poll_at END
    WHERE guid = :guid AND state IN ('PENDING', 'RUNNING')
    RETURNING *
""")


@dataclass(frozen=True, slots=True)
class Started:
    """An execution, and whether this request made it."""

    execution: Execution
    is_new: bool


def execution_from(row: Any) -> Execution:
    """Return the execution that a row of the table holds."""
    return Execution(
        guid=row.guid,
        ref_type=RefType(row.ref_type),
        ref_guid=row.ref_guid,
        space_guid=row.space_guid,
        schedule_guid=row.schedule_guid,
        definition_version=row.definition_version,
        scheduled_time=row.scheduled_time,
        trigger=Trigger(row.trigger),
        state=ExecutionState(row.state),
        reason=row.reason and Reason(row.reason),
        message=row.message,
        task_guid=row.task_guid,
        serial=row.serial,
        attempt=row.attempt,
        not_before=row.not_before,
        look_up_first=row.look_up_first,
        cancel_requested_at=row.cancel_requested_at,
        created_at=row.created_at,
        queued_at=row.queued_at,
        execution_start_time=row.execution_start_time,
        execution_end_time=row.execution_end_time,
        previous_execution_guid=row.previous_execution_guid,
        covers_from=row.covers_from,
        covers_to=row.covers_to,
        covers_count=row.covers_count,
        start_by=row.start_by,
        http_status=row.http_status,
        duration_ms=row.duration_ms,
    )


def get_execution(connection: Connection, guid: UUID) -> Execution | None:
    """Return one execution."""
    row = connection.execute(select(executions).where(executions.c.guid == guid)).one_or_none()
    return execution_from(row) if row else None


def execute(connection: Connection, ref_type: RefType, ref_guid: UUID, *, key: str | None) -> Started | None:
    """Create a manual run, or find the one that was created with the same `key`; None: no such job or call."""
    stored_key = None if key is None else f"execute:{key}"
    parameters = {"guid": new_guid(), "ref_guid": ref_guid, "key": stored_key}
    row = connection.execute(_EXECUTE[ref_type], parameters).one_or_none()
    if row:
        ring(connection, RELAY)
        return Started(execution_from(row), is_new=True)
    return None if stored_key is None else _with_key(connection, ref_guid, stored_key)


def find_triggered(connection: Connection, ref_guid: UUID, schedule_guid: UUID, trigger_id: str) -> Started | None:
    """Return the run that this trigger id has made already."""
    return _with_key(connection, ref_guid, _trigger_key(schedule_guid, trigger_id))


def insert_triggered(
    connection: Connection, schedule_guid: UUID, *, trigger_id: str | None, skipped_for: Reason | None
) -> Started:
    """Create a triggered run, or the record that its overlap rule forbids it; for a schedule that is locked."""
    parameters = {
        "guid": new_guid(),
        "schedule_guid": schedule_guid,
        "state": ExecutionState.PENDING if skipped_for is None else ExecutionState.SKIPPED,
        "reason": skipped_for,
        "key": None if trigger_id is None else _trigger_key(schedule_guid, trigger_id),
    }
    row = connection.execute(_TRIGGER, parameters).one()
    ring(connection, RELAY)
    return Started(execution_from(row), is_new=True)


def cancel(connection: Connection, guid: UUID) -> Execution | None:
    """End a PENDING execution, ask for a RUNNING one to be ended; None: it has ended already."""
    row = connection.execute(_CANCEL, {"guid": guid}).one_or_none()
    if row and row.serial:
        ring(connection, RELAY)  # the next one in line may have its turn now
    return execution_from(row) if row else None


def _with_key(connection: Connection, ref_guid: UUID, key: str) -> Started | None:
    columns = executions.c
    query = select(executions).where(columns.ref_guid == ref_guid, columns.idempotency_key == key)
    row = connection.execute(query).one_or_none()
    return Started(execution_from(row), is_new=False) if row else None


def _trigger_key(schedule_guid: UUID, trigger_id: str) -> str:
    return f"trigger:{schedule_guid}:{trigger_id}"

"""Deleting jobs, calls and schedules: first the schedules go, then their PENDING executions end, then the row itself.

What is RUNNING finishes, and history stays. But nothing is begun any more: a call under way is not tried again, and a
run without a task gets none, which is what a cancellation asks of them. A PENDING execution that may have a task
(`look_up_first`) is left to a runner, which looks the task up and cancels it. Rows are locked in guid order, as
everywhere.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Connection, text

from scheduler.domain.states import RefType
from scheduler.store.calls import delete_call
from scheduler.store.jobs import delete_job
from scheduler.store.schedules import delete_schedules

_LOCK_SCHEDULES = text("""
    SELECT guid FROM schedules WHERE ref_guid = :ref_guid AND ref_type = :ref_type ORDER BY guid FOR UPDATE
""")

_LOCK_THESE = text("""
    SELECT guid, ref_guid FROM schedules WHERE guid = ANY(CAST(:guids AS uuid[])) ORDER BY guid FOR UPDATE
""")

_SCHEDULES_OF = text("SELECT guid FROM schedules WHERE ref_guid = :ref_guid AND ref_type = :ref_type ORDER BY guid")

_UNSTARTED = "e.state = 'PENDING' AND NOT e.look_up_first"

_END_PENDING = f"""
    WITH unfinished AS (
        SELECT guid FROM executions WHERE {{whose}} AND state IN ('PENDING', 'RUNNING') AND task_guid IS NULL
        ORDER BY guid FOR UPDATE
    )
    UPDATE executions e SET
        state = CASE WHEN {_UNSTARTED} THEN 'FAILED' ELSE e.state END,
        reason = CASE WHEN {_UNSTARTED} THEN 'deleted' ELSE e.reason END,
        message = CASE WHEN {_UNSTARTED} THEN :message ELSE e.message END,
        execution_end_time = CASE WHEN {_UNSTARTED} THEN now() END,
        cancel_requested_at = CASE WHEN {_UNSTARTED} THEN e.cancel_requested_at
            ELSE coalesce(e.cancel_requested_at, now()) END
    FROM unfinished WHERE e.guid = unfinished.guid
"""  # noqa: S608 - composed of this module's own constants
_END_OF_WORK = text(_END_PENDING.format(whose="ref_guid = :ref_guid AND ref_type = :ref_type"))
_END_OF_SCHEDULES = text(
    _END_PENDING.format(
        whose="ref_guid = ANY(CAST(:ref_guids AS uuid[])) AND schedule_guid = ANY(CAST(:guids AS uuid[]))"
    )
)


def delete_work(connection: Connection, ref_type: RefType, guid: UUID) -> bool:
    """Delete a job or call with its schedules; return whether there was one.

    A schedule that somebody is creating at this moment may be left over: afterwards, in a transaction of its own,
    `schedules_left` shows it and `delete_schedules_and_pending` removes it.
    """
    reference = {"ref_type": ref_type, "ref_guid": guid}
    delete_schedules(connection, connection.execute(_LOCK_SCHEDULES, reference).scalars().all())
    message = f"the {ref_type} was deleted before this run was started"
    connection.execute(_END_OF_WORK, {**reference, "message": message})
    return (delete_job if ref_type is RefType.JOB else delete_call)(connection, guid)


def schedules_left(connection: Connection, ref_type: RefType, guid: UUID) -> Sequence[UUID]:
    """Return the schedules that still refer to a job or call."""
    return connection.execute(_SCHEDULES_OF, {"ref_type": ref_type, "ref_guid": guid}).scalars().all()


def delete_schedules_and_pending(connection: Connection, guids: Sequence[UUID]) -> int:
    """Delete schedules and end their PENDING executions; return how many schedules there were."""
    rows = connection.execute(_LOCK_THESE, {"guids": [str(guid) for guid in guids]}).all()
    found = [row.guid for row in rows]
    delete_schedules(connection, found)
    parameters = {
        "guids": [str(guid) for guid in found],
        "ref_guids": [str(guid) for guid in {row.ref_guid for row in rows}],
        "message": "the schedule was deleted before this run was started",
    }
    connection.execute(_END_OF_SCHEDULES, parameters)
    return len(found)

"""The claim: one conditional update makes one runner the owner of an execution; what it does not take is settled.

Rows are locked in guid order, waiting and never skipping, so that two runners with the same messages cannot
deadlock, and a relay that still holds a row it just published is waited for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from scheduler.domain.calls import Call
from scheduler.domain.claims import Claimed
from scheduler.domain.jobs import Job
from scheduler.domain.states import RefType
from scheduler.store.arrays import array
from scheduler.store.bells import RELAY, ring
from scheduler.store.calls import call_from
from scheduler.store.jobs import job_from
from scheduler.store.prepared import Prepared, execute
from scheduler.store.sealing import CannotUnsealError, Seal
from scheduler.store.tables import calls, jobs

_LOCK = Prepared(
    "lock_executions",
    {"guids": "uuid[]"},
    "SELECT guid FROM executions WHERE guid = ANY(:guids) ORDER BY guid FOR UPDATE",
)

# Rows are found by their guid. Without the concatenation PostgreSQL would also read the whole index of what is live,
# which its statistics take for empty while thousands of rows wait.
_STATE = "(e.state || '')"

# A serial row has its turn while no other row of its schedule runs and none that is older waits.
_HAS_TURN = """
    NOT e.serial OR NOT EXISTS (
        SELECT FROM executions o
        WHERE o.ref_guid = e.ref_guid AND o.schedule_guid = e.schedule_guid AND o.serial AND o.guid <> e.guid
            AND o.state IN ('PENDING', 'RUNNING')
            AND (o.state = 'RUNNING' OR (coalesce(o.scheduled_time, o.created_at), o.guid)
                < (coalesce(e.scheduled_time, e.created_at), e.guid))
    )
"""

# What was in the way, such as a quota, is kept.
TOO_LATE_MESSAGE = """
    'not started in time: its start deadline had passed' || CASE e.message WHEN '' THEN '' ELSE '; ' || e.message END
"""

_TOO_LATE = "e.start_by < now() AND NOT e.look_up_first"

_PREVIOUS = """
    SELECT p.guid FROM executions p
    WHERE p.schedule_guid = e.schedule_guid AND p.guid < e.guid AND p.execution_start_time IS NOT NULL
    ORDER BY p.guid DESC LIMIT 1
"""

# The parent is no EXISTS: for that PostgreSQL may read all jobs or calls into a hash table, under a plan that was made
# when there were few.
_CLAIM = """
    WITH claimed AS (
        UPDATE executions e SET state = 'RUNNING', runner = :runner, claim_token = :token, reason = NULL,
            attempt = e.attempt + CASE e.state WHEN 'PENDING' THEN 1 ELSE 0 END, next_poll_at = NULL,
            execution_start_time = clock_timestamp(),
            first_start_time = coalesce(e.first_start_time, clock_timestamp()),
            previous_execution_guid = CASE WHEN e.schedule_guid IS NOT NULL THEN ({previous}) END
        WHERE e.guid = ANY(:guids) AND e.ref_type = '{kind}'
            AND (e.look_up_first OR (SELECT true FROM {table} w WHERE w.guid = e.ref_guid)) AND (
            ({state} = 'RUNNING' AND e.claim_token = :token)
            OR ({state} = 'PENDING' AND coalesce(e.not_before, e.created_at) <= now()
                AND (e.cancel_requested_at IS NULL OR e.look_up_first)
                AND (e.start_by IS NULL OR NOT ({too_late})) AND ({has_turn})))
        RETURNING e.guid, e.schedule_guid, e.scheduled_time, e.created_at, e.execution_start_time,
            e.first_start_time, e.start_by, e.attempt, e.look_up_first, e.serial, e.previous_execution_guid, e.ref_guid
    )
    SELECT c.guid AS execution_guid, c.schedule_guid, c.scheduled_time, c.created_at AS execution_created_at,
        c.execution_start_time, c.first_start_time, c.start_by, c.attempt, c.look_up_first, c.serial,
        c.previous_execution_guid, {previous_task}, {columns}
    FROM claimed c LEFT JOIN {table} w ON w.guid = c.ref_guid
"""

_PREVIOUS_TASK = """
    (SELECT p.task_guid FROM executions p WHERE p.guid = c.previous_execution_guid) AS previous_task_guid
"""


def _claim_statement(kind: RefType) -> Prepared:
    sql = _CLAIM.format(
        previous=_PREVIOUS,
        table=f"{kind}s",
        kind=kind,
        state=_STATE,
        too_late=_TOO_LATE,
        has_turn=_HAS_TURN,
        previous_task=_PREVIOUS_TASK if kind is RefType.JOB else "NULL AS previous_task_guid",
        columns=", ".join(f"w.{column.name}" for column in _TABLES[kind].c),
    )
    return Prepared(f"claim_{kind}s", {"guids": "uuid[]", "runner": "uuid", "token": "uuid"}, sql)


_TABLES = {RefType.JOB: jobs, RefType.CALL: calls}
_CLAIMS = {kind: _claim_statement(kind) for kind in RefType}

# A row that may have a task is never ended here: only a runner that has looked it up may do so.
_END_UNSTARTED = text(f"""
    UPDATE executions e SET state = 'FAILED', execution_end_time = now(),
        reason = CASE WHEN e.cancel_requested_at IS NOT NULL THEN 'cancelled'
            WHEN {_TOO_LATE} THEN 'too_late' ELSE 'deleted' END,
        message = CASE WHEN e.cancel_requested_at IS NOT NULL THEN 'cancelled before it was '
                || CASE e.attempt WHEN 0 THEN 'started' ELSE 'tried again; ' || e.message END
            WHEN {_TOO_LATE} THEN {TOO_LATE_MESSAGE}
            ELSE 'the ' || e.ref_type || ' was deleted before this run was started' END
    WHERE e.guid = ANY(CAST(:guids AS uuid[])) AND {_STATE} = 'PENDING' AND NOT e.look_up_first AND (
        e.cancel_requested_at IS NOT NULL OR {_TOO_LATE}
        OR NOT EXISTS (SELECT FROM jobs WHERE guid = e.ref_guid UNION ALL SELECT FROM calls WHERE guid = e.ref_guid))
    RETURNING e.serial
""")  # noqa: S608 - composed of this module's own constants

# Whatever was in the way, it may be gone by now; the relay looks at the time and the turn itself.
_BACK_TO_THE_RELAY = text(f"""
    UPDATE executions e SET queued_at = NULL
    WHERE e.guid = ANY(CAST(:guids AS uuid[])) AND {_STATE} = 'PENDING' AND e.queued_at IS NOT NULL
""")  # noqa: S608 - likewise

# One of the tries may have been committed without our hearing of it.
_SKIP_UNRECORDED = text(f"""
    UPDATE executions e SET state = 'FAILED', reason = 'not_recorded', execution_end_time = now(), message = :message
    WHERE guid = ANY(CAST(:guids AS uuid[])) AND NOT look_up_first
        AND ({_STATE} = 'PENDING' OR ({_STATE} = 'RUNNING' AND claim_token = :token AND task_guid IS NULL))
    RETURNING serial
""")  # noqa: S608 - likewise


@dataclass(frozen=True, kw_only=True, slots=True)
class Claimant:
    """Who claims: a generation of a process, and a token that is new for each claim but not for its repetition."""

    runner: UUID
    token: UUID


def claim(
    connection: Connection, kind: RefType, guids: Sequence[UUID], claimant: Claimant, seal: Seal
) -> list[Claimed]:
    """Make `claimant` the owner of those of the executions that may run now; settle the others.

    Raises sqlalchemy.exc.IntegrityError when two serial rows of one schedule were claimed at once.
    """
    parameters = {"guids": array(guids), "runner": claimant.runner, "token": claimant.token}
    rows = execute(connection, [_LOCK, _CLAIMS[kind]], parameters).all()
    taken = {row.execution_guid for row in rows}
    left = [guid for guid in guids if guid not in taken]
    if left:
        ended = connection.execute(_END_UNSTARTED, {"guids": array(left)}).all()
        if any(row.serial for row in ended):
            ring(connection, RELAY)
        give_to_relay(connection, left)
    return [_claimed(row, kind, claimant.token, seal) for row in rows]


def give_to_relay(connection: Connection, guids: Sequence[UUID]) -> None:
    """Let the relay publish these again, if they still wait, once they may run."""
    connection.execute(_BACK_TO_THE_RELAY, {"guids": array(guids)})


def _claimed(row: Any, kind: RefType, token: UUID, seal: Seal) -> Claimed:
    work, fault = _work(row, kind, seal)
    return Claimed(
        guid=row.execution_guid,
        claim_token=token,
        schedule_guid=row.schedule_guid,
        scheduled_time=row.scheduled_time,
        created_at=row.execution_created_at,
        started_at=row.execution_start_time,
        first_started_at=row.first_start_time,
        start_by=row.start_by,
        attempt=row.attempt,
        look_up_first=row.look_up_first,
        serial=row.serial,
        previous_execution_guid=row.previous_execution_guid,
        previous_task_guid=row.previous_task_guid,
        work=work,
        fault=fault,
    )


def _work(row: Any, kind: RefType, seal: Seal) -> tuple[Job | Call | None, str]:
    """Return the definition, or why it cannot be read: one such row must not keep the others from being claimed."""
    if row.guid is None:
        return None, ""
    try:
        return (job_from(row) if kind is RefType.JOB else call_from(row, seal)), ""
    except CannotUnsealError as error:
        return None, str(error)
    except (ValueError, TypeError, KeyError):
        return None, f"the stored {kind} is damaged"


def skip_unrecorded(connection: Connection, guids: Sequence[UUID], token: UUID, message: str) -> int:
    """End executions whose start could not be recorded, so that nothing was started (checklist 171)."""
    parameters = {"guids": [str(guid) for guid in guids], "token": token, "message": message}
    rows = connection.execute(_SKIP_UNRECORDED, parameters).all()
    if any(row.serial for row in rows):
        ring(connection, RELAY)
    return len(rows)

"""What the ticker does for runs whose runner died, for runs that nobody started in time, and for dead processes."""

from sqlalchemy import Connection, text

from scheduler.store.bells import RELAY, ring
from scheduler.store.claims import TOO_LATE_MESSAGE

# A call's own limit decides whether a living process is overdue; creating a task has a limit of its own.
_OVERDUE = """
    e.execution_start_time < now() - :margin * interval '1 second' - CASE e.ref_type
        WHEN 'call' THEN coalesce((SELECT c.timeout_seconds FROM calls c WHERE c.guid = e.ref_guid), 900)
        ELSE 60 END * interval '1 second'
"""

_LOST = f"""
    SELECT e.guid, e.runner, e.claim_token FROM executions e
    WHERE e.state = 'RUNNING' AND e.task_guid IS NULL AND e.ref_type = :kind AND e.runner IS NOT NULL
        AND (NOT EXISTS (SELECT FROM processes p WHERE p.guid = e.runner
                AND p.seen_at >= now() - :dead * interval '1 second')
            OR {_OVERDUE})
    LIMIT 1000
"""  # noqa: S608 - composed of this module's own constants

_SAME_CLAIM = """
    e.guid = lost.guid AND e.runner = lost.runner AND e.claim_token = lost.claim_token
    AND e.state = 'RUNNING' AND e.task_guid IS NULL
"""

# The outcome is unknown. The call is tried again only where it asks for that, within its attempts and age.
_RESCUE_CALLS = text(f"""
    WITH lost AS ({_LOST}),
    judged AS (
        SELECT lost.*, coalesce(c.retry -> 'retry_on' ? 'runner_lost'
            AND e.attempt < CAST(c.retry ->> 'max_attempts' AS integer)
            AND e.first_start_time
                > now() - CAST(c.retry ->> 'max_age_seconds' AS double precision) * interval '1 second',
            false) AS again
        FROM lost JOIN executions e ON e.guid = lost.guid LEFT JOIN calls c ON c.guid = e.ref_guid
    )
    UPDATE executions e SET
        state = CASE WHEN lost.again THEN 'PENDING' ELSE 'FAILED' END,
        reason = 'runner_lost',
        message = 'the runner was lost during the call; its outcome is unknown',
        execution_end_time = CASE WHEN lost.again THEN NULL ELSE now() END,
        queued_at = CASE WHEN lost.again THEN NULL ELSE e.queued_at END,
        claim_token = CASE WHEN lost.again THEN NULL ELSE e.claim_token END,
        publish_count = 0, start_by = NULL
    FROM judged lost WHERE {_SAME_CLAIM}
""")  # noqa: S608 - likewise

# A task may exist: whoever claims the row asks for it by its label before creating one.
_RESCUE_JOBS = text(f"""
    WITH lost AS ({_LOST})
    UPDATE executions e SET state = 'PENDING', reason = 'runner_lost', look_up_first = true, queued_at = NULL,
        publish_count = 0, claim_token = NULL, runner = NULL, attempt = e.attempt - 1,
        not_before = now() + :settle * interval '1 second',
        message = 'the runner was lost while it created the task; another one looks for it'
    FROM lost WHERE {_SAME_CLAIM}
""")  # noqa: S608 - likewise

_END_TOO_LATE = text(f"""
    UPDATE executions e SET state = 'FAILED', reason = 'too_late', execution_end_time = now(),
        message = {TOO_LATE_MESSAGE}
    WHERE guid IN (
        SELECT guid FROM executions
        WHERE state = 'PENDING' AND start_by < now() AND NOT look_up_first
        ORDER BY start_by LIMIT 1000 FOR UPDATE SKIP LOCKED
    )
    RETURNING serial
""")  # noqa: S608 - likewise

_FORGET_DEAD = text("""
    DELETE FROM processes p WHERE p.seen_at < now() - 10 * :dead * interval '1 second'
        AND NOT EXISTS (
            SELECT FROM executions e WHERE e.runner = p.guid AND e.state = 'RUNNING' AND e.task_guid IS NULL
        )
""")


def rescue_calls(connection: Connection, *, dead_seconds: float, margin_seconds: float) -> int:
    """End, or put back, calls whose runner is dead or has had them for far too long; return how many."""
    parameters = {"kind": "call", "dead": dead_seconds, "margin": margin_seconds}
    return _ring_if_any(connection, connection.execute(_RESCUE_CALLS, parameters).rowcount)


def rescue_jobs(connection: Connection, *, dead_seconds: float, margin_seconds: float, settle_seconds: float) -> int:
    """Put back jobs whose runner died before it recorded a task; return how many."""
    parameters = {"kind": "job", "dead": dead_seconds, "margin": margin_seconds, "settle": settle_seconds}
    return _ring_if_any(connection, connection.execute(_RESCUE_JOBS, parameters).rowcount)


def end_too_late(connection: Connection) -> int:
    """End runs whose start deadline has passed; return how many."""
    rows = connection.execute(_END_TOO_LATE).all()
    if any(row.serial for row in rows):
        ring(connection, RELAY)
    return len(rows)


def forget_dead_processes(connection: Connection, *, dead_seconds: float) -> int:
    """Delete the rows of long dead processes that nothing refers to; return how many."""
    return connection.execute(_FORGET_DEAD, {"dead": dead_seconds}).rowcount


def _ring_if_any(connection: Connection, count: int) -> int:
    if count:
        ring(connection, RELAY)
    return count

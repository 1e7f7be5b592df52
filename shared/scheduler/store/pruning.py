"""Old history and old audit events go, in batches; what is PENDING or RUNNING never does."""

from datetime import datetime

from sqlalchemy import Connection, text

from scheduler.domain.guids import first_guid_at

# Guids are ordered by time of creation, so the oldest rows are found without an index of their own.
_EXECUTIONS = text("""
    DELETE FROM executions WHERE guid IN (
        SELECT guid FROM executions
        WHERE guid < :bound AND state IN ('SUCCEEDED', 'FAILED', 'SKIPPED') AND execution_end_time < :before
        ORDER BY guid LIMIT :limit FOR UPDATE SKIP LOCKED
    )
""")
_AUDIT_EVENTS = text("""
    DELETE FROM audit_events WHERE guid IN (
        SELECT guid FROM audit_events WHERE guid < :bound ORDER BY guid LIMIT :limit FOR UPDATE SKIP LOCKED
    )
""")


def prune_executions(connection: Connection, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` executions that ended before `before`; return how many."""
    parameters = {"bound": first_guid_at(before), "before": before, "limit": limit}
    return connection.execute(_EXECUTIONS, parameters).rowcount


def prune_audit_events(connection: Connection, *, before: datetime, limit: int) -> int:
    """Delete up to `limit` audit events that are older than `before`; return how many."""
    return connection.execute(_AUDIT_EVENTS, {"bound": first_guid_at(before), "limit": limit}).rowcount

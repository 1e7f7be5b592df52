"""The job or call to which schedules and executions belong, held or kept out while these come and go.

Whoever adds something to a job or call holds its row; whoever deletes it keeps it. So nothing is added in the moment
of its deletion, and no row is left over that the deletion has not seen.
"""

from uuid import UUID

from sqlalchemy import Connection, TextClause, text

from scheduler.domain.states import RefType


def _statements(strength: str) -> dict[RefType, TextClause]:
    return {kind: text(f"SELECT guid FROM {kind}s WHERE guid = :guid {strength}") for kind in RefType}  # noqa: S608 - of this module's own words


_HOLD = _statements("FOR KEY SHARE")
_KEEP = _statements("FOR UPDATE")
_LOOK = _statements("")


def hold_parent(connection: Connection, ref_type: RefType, guid: UUID) -> bool:
    """Keep a job or call from being deleted until the transaction ends; return whether it is there."""
    return _finds(connection, _HOLD[ref_type], guid)


def keep_parent(connection: Connection, ref_type: RefType, guid: UUID) -> bool:
    """Keep everybody else from adding to a job or call until the transaction ends; return whether it is there."""
    return _finds(connection, _KEEP[ref_type], guid)


def has_parent(connection: Connection, ref_type: RefType, guid: UUID) -> bool:
    """Tell whether a job or call is stored."""
    return _finds(connection, _LOOK[ref_type], guid)


def _finds(connection: Connection, statement: TextClause, guid: UUID) -> bool:
    return connection.execute(statement, {"guid": guid}).one_or_none() is not None

"""Audit events: written in the transaction of the change that they tell of, read newest first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, literal_column, select, text
from sqlalchemy.dialects.postgresql import JSONB

from scheduler.domain.audit_events import AuditEvent
from scheduler.domain.guids import new_guid
from scheduler.store.keyset import Keyset, Lead, created_between, in_order
from scheduler.store.tables import audit_events

_INSERT = text("""
    INSERT INTO audit_events
        (guid, action, actor_guid, actor_name, target_type, target_guid, space_guid, data, created_at)
    VALUES (:guid, :action, :actor_guid, :actor_name, :target_type, :target_guid, :space_guid, :data, now())
""").bindparams(bindparam("data", type_=JSONB))

_INDEXED = ("target_guid", "actor_guid", "space_guid")  # the likely fewest rows first


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """What somebody does in this transaction."""

    action: str
    actor_guid: str
    actor_name: str
    target_type: str
    target_guid: str
    space_guid: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditFilter:
    """Which audit events; what is None does not matter."""

    space_guid: str | None = None
    target_guid: str | None = None
    actor_guid: str | None = None
    action: str | None = None
    since: datetime | None = None
    until: datetime | None = None


def record(connection: Connection, deed: Deed) -> None:
    """Write down what this transaction does; it stands or falls with the change."""
    values = {name: getattr(deed, name) for name in Deed.__slots__}
    connection.execute(_INSERT, {**values, "guid": new_guid(), "data": dict(deed.data)})


def audit_events_where(connection: Connection, wanted: AuditFilter, keyset: Keyset) -> Sequence[AuditEvent]:
    """Return audit events, newest first."""
    lead = _lead(wanted)
    query = keyset.applied_to(_filtered(select(audit_events), wanted, lead), audit_events.c.guid, lead)
    return [_event(row) for row in in_order(connection.execute(query).all(), keyset)]


def count_audit_events(connection: Connection, wanted: AuditFilter, *, at_most: int) -> int:
    """Count audit events, but no further than `at_most`."""
    some = _filtered(select(literal_column("1")).select_from(audit_events), wanted).limit(at_most).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one())


def _lead(wanted: AuditFilter) -> Lead | None:
    """Return the condition with an index that leaves the fewest rows."""
    for name in _INDEXED:
        if (value := getattr(wanted, name)) is not None:
            return Lead(audit_events.c[name], value)
    return None


def _filtered(query: Select[Any], wanted: AuditFilter, lead: Lead | None = None) -> Select[Any]:
    """Return the query with all conditions but the one that the page's index begins with."""
    columns = audit_events.c
    query = query.where(*created_between(columns, wanted.since, wanted.until))
    for name in (*_INDEXED, "action"):
        value = getattr(wanted, name)
        if value is not None and (lead is None or lead.column is not columns[name]):
            query = query.where(columns[name] == value)
    return query


def _event(row: Any) -> AuditEvent:
    return AuditEvent(**{name: getattr(row, name) for name in AuditEvent.__slots__})

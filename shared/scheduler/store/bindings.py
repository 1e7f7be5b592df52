"""Bindings, and the lock under which everything happens that depends on whether an app is bound.

Binding, unbinding, creating a schedule and resuming one take `lock_app` first, so that no schedule is created or
resumed in the moment in which the app loses its last binding. Whoever takes several locks takes them in this order:
service instance, apps, schedules; within each kind in one fixed order.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, exists, select, text

from scheduler.domain.schedules import Schedule
from scheduler.domain.service_instances import Binding
from scheduler.store.schedule_rows import schedule_from
from scheduler.store.tables import service_bindings

_LOCK = text("SELECT pg_advisory_xact_lock(:key)")

_INSERT = text("""
    INSERT INTO service_bindings (guid, instance_guid, service_id, plan_id, app_guid, created_at)
    VALUES (:guid, :instance_guid, :service_id, :plan_id, :app_guid, now())
    ON CONFLICT DO NOTHING
""")

_SCHEDULES_OF_APP = text("""
    SELECT s.guid FROM jobs j JOIN schedules s ON s.ref_guid = j.guid AND s.ref_type = 'job'
    WHERE j.app_guid = :app_guid
    UNION ALL
    SELECT s.guid FROM calls c JOIN schedules s ON s.ref_guid = c.guid AND s.ref_type = 'call'
    WHERE c.app_guid = :app_guid
""")

# Locking takes a statement that names the rows and no other table: PostgreSQL judges a row that somebody changed while
# we waited for it by running the statement's plan again for this row alone, and some plans of joins then find nothing.
_LOCK_SCHEDULES = text("""
    SELECT * FROM schedules WHERE guid = ANY(CAST(:guids AS uuid[])) ORDER BY guid FOR UPDATE
""")

_TOUCH = text("UPDATE schedules SET updated_at = :now WHERE guid = ANY(CAST(:guids AS uuid[]))")

_CLOCK = text("SELECT clock_timestamp()")


def lock_app(connection: Connection, app_guid: str) -> None:
    """Wait for every other transaction that has locked this app, and keep further ones waiting until this one ends."""
    connection.execute(_LOCK, {"key": _lock_key(app_guid)})


def lock_apps(connection: Connection, app_guids: Iterable[str]) -> None:
    """Lock several apps, in an order that is the same for everybody."""
    for key in sorted({_lock_key(guid) for guid in app_guids}):
        connection.execute(_LOCK, {"key": key})


def is_bound(connection: Connection, app_guid: str) -> bool:
    """Tell whether the app has a binding; a service key is none."""
    return bool(connection.execute(select(exists().where(service_bindings.c.app_guid == app_guid))).scalar())


def insert_binding(connection: Connection, binding: Binding) -> bool:
    """Store a new binding; return false when its GUID is taken."""
    values = {name: getattr(binding, name) for name in Binding.__slots__}
    return connection.execute(_INSERT, values).rowcount == 1


def get_binding(connection: Connection, guid: str) -> Binding | None:
    """Return one binding."""
    found = _bindings(connection, select(service_bindings).where(service_bindings.c.guid == guid))
    return found[0] if found else None


def bindings_of_instance(connection: Connection, instance_guid: str) -> Sequence[Binding]:
    """Return an instance's bindings and keys."""
    return _bindings(connection, select(service_bindings).where(service_bindings.c.instance_guid == instance_guid))


def delete_bindings(connection: Connection, guids: Sequence[str]) -> int:
    """Delete bindings and return how many there were."""
    return connection.execute(delete(service_bindings).where(service_bindings.c.guid.in_(guids))).rowcount


def lock_schedules_of_app(connection: Connection, app_guid: str) -> tuple[datetime, Sequence[Schedule]]:
    """Return the schedules of all jobs and calls of the app, kept from everybody else, tickers included.

    For a transaction that has locked the app, so that none is added between finding and locking them.
    The instant is the database's, read once the locks are held: no ticker can have planned beyond it.
    """
    guids = connection.execute(_SCHEDULES_OF_APP, {"app_guid": app_guid}).scalars()
    rows = connection.execute(_LOCK_SCHEDULES, {"guids": [str(guid) for guid in guids]}).all()
    now: datetime = connection.execute(_CLOCK).scalar_one()
    return now, [schedule_from(row) for row in rows]


def touch_schedules(connection: Connection, schedules: Sequence[Schedule], *, now: datetime) -> None:
    """Show users that these schedules have changed; for schedules that this transaction has locked."""
    connection.execute(_TOUCH, {"now": now, "guids": [str(schedule.guid) for schedule in schedules]})


def _bindings(connection: Connection, query: Select[Any]) -> Sequence[Binding]:
    rows = connection.execute(query)
    return [Binding(**{name: getattr(row, name) for name in Binding.__slots__}) for row in rows]


def _lock_key(app_guid: str) -> int:
    """Return the 64 bits that stand for an app. Two apps with the same ones would merely wait for each other."""
    return int.from_bytes(hashlib.sha256(b"app:" + app_guid.encode()).digest()[:8], signed=True)

"""Service instances: at most one in a space, which a unique constraint decides."""

from typing import Any

from sqlalchemy import Connection, Select, select, text

from scheduler.domain.service_instances import ServiceInstance
from scheduler.store.tables import service_bindings, service_instances

_INSERT = text("""
    INSERT INTO service_instances (guid, service_id, plan_id, organization_guid, space_guid, created_at, updated_at)
    VALUES (:guid, :service_id, :plan_id, :organization_guid, :space_guid, now(), now())
    ON CONFLICT DO NOTHING
""")


def insert_instance(connection: Connection, instance: ServiceInstance) -> bool:
    """Store a new instance; return false when its GUID or its space has one already.

    Waits for a concurrent transaction that inserts or deletes the same, and then goes by what that has done.
    """
    values = {name: getattr(instance, name) for name in ServiceInstance.__slots__}
    return connection.execute(_INSERT, values).rowcount == 1


def get_instance(connection: Connection, guid: str) -> ServiceInstance | None:
    """Return one instance."""
    return _first(connection, select(service_instances).where(service_instances.c.guid == guid))


def lock_instance(connection: Connection, guid: str) -> ServiceInstance | None:
    """Return one instance, kept from every other bind, unbind and deprovision until the transaction ends."""
    query = select(service_instances).where(service_instances.c.guid == guid).with_for_update()
    return _first(connection, query)


def instance_of_space(connection: Connection, space_guid: str) -> ServiceInstance | None:
    """Return the space's instance."""
    return _first(connection, select(service_instances).where(service_instances.c.space_guid == space_guid))


def delete_instance(connection: Connection, guid: str) -> None:
    """Delete an instance and what is left of its bindings; for one that this transaction has locked."""
    connection.execute(service_bindings.delete().where(service_bindings.c.instance_guid == guid))
    connection.execute(service_instances.delete().where(service_instances.c.guid == guid))


def _first(connection: Connection, query: Select[Any]) -> ServiceInstance | None:
    row = connection.execute(query).one_or_none()
    return ServiceInstance(**{name: getattr(row, name) for name in ServiceInstance.__slots__}) if row else None

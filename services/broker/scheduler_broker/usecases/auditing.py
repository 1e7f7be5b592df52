"""Writing down who did what, in the transaction that does it."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from scheduler.domain.schedules import Schedule
from scheduler.domain.service_instances import Binding, ServiceInstance
from scheduler.store.audit_events import Deed, record


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """The user on whose behalf the platform acts, as far as it says so."""

    guid: str = ""
    name: str = "service broker"


def audit_instance(connection: Connection, actor: Actor, verb: str, instance: ServiceInstance, **data: Any) -> None:
    """Record what becomes of a service instance."""
    _record(connection, actor, ("service_instance", verb, instance.guid), instance.space_guid, data)


def audit_binding(
    connection: Connection, actor: Actor, verb: str, binding: Binding, space_guid: str, **data: Any
) -> None:
    """Record what becomes of a binding or service key."""
    facts = {"instance_guid": binding.instance_guid, "app_guid": binding.app_guid, **data}
    _record(connection, actor, ("binding", verb, binding.guid), space_guid, facts)


def audit_schedule(connection: Connection, actor: Actor, verb: str, schedule: Schedule) -> None:
    """Record that a schedule was paused or resumed because of a binding."""
    _record(connection, actor, ("schedule", verb, str(schedule.guid)), schedule.space_guid, {"paused_by": "unbind"})


def _record(
    connection: Connection, actor: Actor, deed: tuple[str, str, str], space_guid: str, data: dict[str, Any]
) -> None:
    noun, verb, guid = deed
    record(
        connection,
        Deed(
            action=f"{noun}.{verb}",
            actor_guid=actor.guid,
            actor_name=actor.name,
            target_type=noun,
            target_guid=guid,
            space_guid=space_guid,
            data=data,
        ),
    )

"""What the service broker keeps: a space's service instance and its bindings. Their GUIDs are Cloud Controller's."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceInstance:
    """The scheduler is turned on for this space."""

    guid: str
    service_id: str
    plan_id: str
    organization_guid: str
    space_guid: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """An app that may be scheduled, or a service key."""

    guid: str
    instance_guid: str
    service_id: str
    plan_id: str
    app_guid: str | None  # None: a service key, which binds no app

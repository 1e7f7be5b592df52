"""Service instances, made and removed through their broker."""

from typing import Any

from flask import Blueprint, request

from scheduler_local.controller.access import access
from scheduler_local.controller.errors import ControllerError, not_found, unprocessable
from scheduler_local.controller.pages import keep, page_of, query, stamp
from scheduler_local.controller.parts import parts
from scheduler_local.controller.routes.brokers import answer_with, included
from scheduler_local.controller.services import Instance, Operation, Plan

routes = Blueprint("instances", __name__)


@routes.post("/v3/service_instances")
def create() -> Any:
    """Make an instance; the broker is asked by a job."""
    body = request.get_json()
    space_guid = body["relationships"]["space"]["data"]["guid"]
    if space_guid not in parts().world.spaces or not access().may_read(space_guid):
        raise unprocessable("Invalid space. Ensure that the space exists and you have access to it.")
    access().require_write(space_guid)
    plan = _available_plan(body["relationships"]["service_plan"]["data"]["guid"])
    services, operations, user_guid = parts().services, parts().operations, access().user_guid
    with services.lock:
        if any(old.name == body["name"] and old.space_guid == space_guid for old in services.instances.values()):
            raise unprocessable(f"The service instance name is taken: {body['name']}.")
        instance = Instance(
            name=body["name"], space_guid=space_guid, plan_guid=plan.guid, operation=Operation(type="create")
        )
        services.instances[instance.guid] = instance
    parameters = body.get("parameters")
    return answer_with(
        parts().jobs.start("service_instance.create", lambda: operations.provision(instance, parameters, user_guid))
    )


@routes.get("/v3/service_instances")
def instances() -> Any:
    """List the instances that the caller may see."""
    wanted = query(
        "names", "guids", "type", "space_guids", "organization_guids", "service_plan_guids", "service_plan_names"
    )
    found = [
        instance
        for instance in parts().services.instances.values()
        if access().may_read(instance.space_guid)
        and keep(instance.name, wanted["names"])
        and keep(instance.guid, wanted["guids"])
        and keep(instance.space_guid, wanted["space_guids"])
        and keep(instance.plan_guid, wanted["service_plan_guids"])
    ]
    return {**page_of(found, show_instance), "included": included()}


@routes.get("/v3/service_instances/<guid>")
def instance(guid: str) -> Any:
    """Show an instance."""
    return {**show_instance(readable_instance(guid)), "included": included()}


@routes.delete("/v3/service_instances/<guid>")
def delete(guid: str) -> Any:
    """Remove an instance through its broker, or, with `purge`, without telling it."""
    found = readable_instance(guid)
    if request.args.get("purge") == "true":
        access().require_admin()
        parts().services.forget_instance(guid)
        return "", 204
    access().require_write(found.space_guid)
    refuse_while_busy(found)
    found.operation = Operation(type="delete")
    operations, user_guid = parts().operations, access().user_guid
    return answer_with(parts().jobs.start("service_instance.delete", lambda: operations.deprovision(found, user_guid)))


def readable_instance(guid: str) -> Instance:
    """Return an instance that the caller may see."""
    found = parts().services.instances.get(guid)
    if found is None or not access().may_read(found.space_guid):
        raise not_found("Service instance")
    return found


def refuse_while_busy(instance: Instance) -> None:
    """Refuse a second operation on an instance before the first has ended."""
    if instance.operation.state == "in progress":
        detail = f"An operation for service instance {instance.name} is in progress."
        raise ControllerError(409, 60016, "CF-AsyncServiceInstanceOperationInProgress", detail)


def show_instance(instance: Instance) -> dict[str, Any]:
    """Return an instance as Cloud Controller shows it."""
    created = stamp(instance.created_at)
    return {
        "guid": instance.guid,
        "name": instance.name,
        "type": "managed",
        "tags": [],
        "created_at": created,
        "updated_at": created,
        "last_operation": {
            "type": instance.operation.type,
            "state": instance.operation.state,
            "description": instance.operation.description,
            "created_at": created,
            "updated_at": created,
        },
        "upgrade_available": False,
        "dashboard_url": None,
        "maintenance_info": {},
        "relationships": {
            "space": {"data": {"guid": instance.space_guid}},
            "service_plan": {"data": {"guid": instance.plan_guid}},
        },
        "metadata": {"labels": {}, "annotations": {}},
    }


def _available_plan(guid: str) -> Plan:
    plan = parts().services.plans.get(guid)
    if plan is None or not (plan.visibility == "public" or access().is_admin):
        raise unprocessable(
            "Invalid service plan. Ensure that the service plan exists, is available, and you have access to it."
        )
    return plan

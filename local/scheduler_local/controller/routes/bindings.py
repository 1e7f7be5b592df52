"""Service credential bindings: of apps, and keys."""

from typing import Any

from flask import Blueprint, request

from scheduler_local.controller.access import access
from scheduler_local.controller.errors import not_found, unprocessable
from scheduler_local.controller.pages import keep, page_of, query, stamp
from scheduler_local.controller.parts import parts
from scheduler_local.controller.routes.apps import show_app
from scheduler_local.controller.routes.brokers import answer_with
from scheduler_local.controller.routes.instances import readable_instance, refuse_while_busy, show_instance
from scheduler_local.controller.services import Binding, Instance, Operation
from scheduler_local.controller.world import App

routes = Blueprint("bindings", __name__)


@routes.post("/v3/service_credential_bindings")
def create() -> Any:
    """Bind an app or make a key; the broker is asked by a job."""
    body = request.get_json()
    instance = readable_instance(body["relationships"]["service_instance"]["data"]["guid"])
    access().require_write(instance.space_guid)
    refuse_while_busy(instance)
    app = _bindable_app(body, instance) if body["type"] == "app" else None
    services, operations, user_guid = parts().services, parts().operations, access().user_guid
    with services.lock:
        _refuse_second(body, instance, app)
        binding = Binding(
            name=body.get("name"), instance_guid=instance.guid, app_guid=app.guid if app else None,
            operation=Operation(type="create"),
        )  # fmt: skip
        services.bindings[binding.guid] = binding
    parameters = body.get("parameters")
    return answer_with(
        parts().jobs.start("service_bindings.create", lambda: operations.bind(binding, parameters, user_guid))
    )


@routes.get("/v3/service_credential_bindings")
def bindings() -> Any:
    """List the bindings that the caller may see."""
    wanted = query(
        "names", "guids", "type", "app_guids", "app_names", "service_instance_guids", "service_instance_names"
    )
    services = parts().services
    found = [
        binding
        for binding in services.bindings.values()
        if access().may_read(services.instances[binding.instance_guid].space_guid)
        and keep(binding.name or "", wanted["names"])
        and keep(binding.guid, wanted["guids"])
        and keep(binding.type, wanted["type"])
        and keep(binding.app_guid or "", wanted["app_guids"])
        and keep(binding.instance_guid, wanted["service_instance_guids"])
        and keep(services.instances[binding.instance_guid].name, wanted["service_instance_names"])
    ]
    return {**page_of(found, _show), "included": _included(found)}


@routes.get("/v3/service_credential_bindings/<guid>")
def binding(guid: str) -> Any:
    """Show a binding."""
    return _show(_readable(guid))


@routes.get("/v3/service_credential_bindings/<guid>/details")
def details(guid: str) -> Any:
    """Show a binding's credentials."""
    found = _readable(guid)
    access().require_write(parts().services.instances[found.instance_guid].space_guid)
    return {"credentials": found.credentials, "volume_mounts": []}


@routes.delete("/v3/service_credential_bindings/<guid>")
def delete(guid: str) -> Any:
    """Remove a binding through its broker."""
    found = _readable(guid)
    access().require_write(parts().services.instances[found.instance_guid].space_guid)
    found.operation = Operation(type="delete")
    operations, user_guid = parts().operations, access().user_guid
    return answer_with(parts().jobs.start("service_bindings.delete", lambda: operations.unbind(found, user_guid)))


def _bindable_app(body: dict[str, Any], instance: Instance) -> App:
    app = parts().world.app(body["relationships"]["app"]["data"]["guid"])
    if app is None or not access().may_read(app.space_guid):
        raise unprocessable("The app could not be found")
    if app.space_guid != instance.space_guid:
        raise unprocessable("The service instance and the app are in different spaces.")
    return app


def _refuse_second(body: dict[str, Any], instance: Instance, app: App | None) -> None:
    others = parts().services.bindings_of(instance.guid)
    if app is not None and any(other.app_guid == app.guid for other in others):
        raise unprocessable("The app is already bound to the service instance.")
    if app is None and any(other.type == "key" and other.name == body["name"] for other in others):
        raise unprocessable(f"The binding name is invalid. Key binding names must be unique: '{body['name']}'")


def _readable(guid: str) -> Binding:
    found = parts().services.bindings.get(guid)
    if found is None or not access().may_read(parts().services.instances[found.instance_guid].space_guid):
        raise not_found("Service credential binding")
    return found


def _included(found: list[Binding]) -> dict[str, Any]:
    apps, instances = parts().world.apps, parts().services.instances
    return {
        "apps": [show_app(apps[binding.app_guid]) for binding in found if binding.app_guid in apps],
        "service_instances": [show_instance(instances[guid]) for guid in {binding.instance_guid for binding in found}],
    }


def _show(binding: Binding) -> dict[str, Any]:
    created = stamp(binding.created_at)
    related = {"service_instance": {"data": {"guid": binding.instance_guid}}}
    if binding.app_guid is not None:
        related["app"] = {"data": {"guid": binding.app_guid}}
    return {
        "guid": binding.guid,
        "name": binding.name,
        "type": binding.type,
        "created_at": created,
        "updated_at": created,
        "last_operation": {
            "type": binding.operation.type,
            "state": binding.operation.state,
            "description": binding.operation.description,
            "created_at": created,
            "updated_at": created,
        },
        "relationships": related,
        "metadata": {"labels": {}, "annotations": {}},
    }

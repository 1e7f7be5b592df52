"""Brokers, what they offer, and the jobs that users poll."""

from typing import Any

from flask import Blueprint, request

from scheduler_local.controller.access import access
from scheduler_local.controller.errors import ControllerError, not_found, unprocessable
from scheduler_local.controller.jobs import Job
from scheduler_local.controller.pages import keep, page_of, query
from scheduler_local.controller.parts import parts
from scheduler_local.controller.services import Broker, Offering, Plan

routes = Blueprint("brokers", __name__)


@routes.post("/v3/service_brokers")
def create() -> Any:
    """Register a broker; its catalog is read by a job."""
    access().require_admin()
    body = request.get_json()
    services = parts().services
    if any(broker.name == body["name"] for broker in services.brokers.values()):
        raise unprocessable("Name must be unique")
    credentials = body["authentication"]["credentials"]
    broker = Broker(
        name=body["name"], url=body["url"], username=credentials["username"], password=credentials["password"]
    )
    services.brokers[broker.guid] = broker
    return answer_with(parts().jobs.start("service_broker.catalog.synchronize", _registration(broker)))


@routes.get("/v3/service_brokers")
def brokers() -> Any:
    """List the brokers."""
    wanted = query("names", "space_guids")
    found = [broker for broker in parts().services.brokers.values() if keep(broker.name, wanted["names"])]
    return page_of(found if access().reads_all else [], show_broker)


@routes.get("/v3/service_brokers/<guid>")
def broker(guid: str) -> Any:
    """Show a broker."""
    return show_broker(_broker(guid))


@routes.patch("/v3/service_brokers/<guid>")
def update(guid: str) -> Any:
    """Change a broker's address or credentials, and read its catalog again."""
    access().require_admin()
    found, body = _broker(guid), request.get_json()
    credentials = body.get("authentication", {}).get("credentials", {})
    found.name, found.url = body.get("name", found.name), body.get("url", found.url)
    found.username = credentials.get("username", found.username)
    found.password = credentials.get("password", found.password)
    return answer_with(parts().jobs.start("service_broker.update", _registration(found)))


@routes.delete("/v3/service_brokers/<guid>")
def delete(guid: str) -> Any:
    """Forget a broker that nothing comes from any more."""
    access().require_admin()
    found, services = _broker(guid), parts().services
    plans = [plan for offering in services.offerings_of(guid) for plan in services.plans_of(offering.guid)]
    if services.instances_of(plan.guid for plan in plans):
        detail = f"Can not remove brokers that have associated service instances: {found.name}"
        raise ControllerError(422, 270010, "CF-ServiceBrokerNotRemovable", detail)

    def forget() -> None:
        for plan in plans:
            services.plans.pop(plan.guid, None)
        for offering in services.offerings_of(guid):
            services.offerings.pop(offering.guid, None)
        services.brokers.pop(guid, None)
        services.save()

    return answer_with(parts().jobs.start("service_broker.delete", forget))


@routes.get("/v3/service_offerings")
def offerings() -> Any:
    """List the services that the caller may see."""
    wanted = query("names", "guids", "available", "service_broker_guids", "service_broker_names", "space_guids")
    services = parts().services
    found = [
        offering
        for offering in services.offerings.values()
        if any(_is_visible(plan) for plan in services.plans_of(offering.guid))
        and keep(offering.name, wanted["names"])
        and keep(offering.guid, wanted["guids"])
        and keep(offering.broker_guid, wanted["service_broker_guids"])
        and keep(services.brokers[offering.broker_guid].name, wanted["service_broker_names"])
    ]
    included = {"service_brokers": [show_broker(broker) for broker in services.brokers.values()]}
    return {**page_of(found, show_offering), "included": included}


@routes.get("/v3/service_plans")
def plans() -> Any:
    """List the plans that the caller may see."""
    wanted = query(
        "names", "guids", "available", "space_guids", "organization_guids", "service_offering_guids",
        "service_offering_names", "service_broker_guids", "service_broker_names",
    )  # fmt: skip
    services = parts().services
    found = []
    for plan in services.plans.values():
        offering = services.offerings[plan.offering_guid]
        if (
            _is_visible(plan)
            and keep(plan.name, wanted["names"])
            and keep(plan.guid, wanted["guids"])
            and keep(offering.guid, wanted["service_offering_guids"])
            and keep(offering.name, wanted["service_offering_names"])
            and keep(offering.broker_guid, wanted["service_broker_guids"])
            and keep(services.brokers[offering.broker_guid].name, wanted["service_broker_names"])
        ):
            found.append(plan)
    return {**page_of(found, show_plan), "included": included()}


@routes.get("/v3/service_plans/<guid>/visibility")
def visibility(guid: str) -> Any:
    """Say who may see a plan."""
    return {"type": _plan(guid).visibility}


@routes.route("/v3/service_plans/<guid>/visibility", methods=["POST", "PATCH"])
def set_visibility(guid: str) -> Any:
    """Let everybody see a plan, or only admins."""
    access().require_admin()
    plan = _plan(guid)
    plan.visibility = request.get_json()["type"]
    parts().services.save()
    return {"type": plan.visibility}


@routes.get("/v3/jobs/<guid>")
def job(guid: str) -> Any:
    """Say how far a job is."""
    found = parts().jobs.get(guid)
    if found is None:
        raise not_found("Job")
    return {
        "guid": found.guid,
        "operation": found.operation,
        "state": found.state,
        "errors": found.errors,
        "warnings": [],
        "links": {"self": {"href": request.base_url}},
    }


def answer_with(job: Job) -> Any:
    """Answer that a job is under way, and where to poll it."""
    return "", 202, {"Location": f"{request.url_root}v3/jobs/{job.guid}"}


def included() -> dict[str, Any]:
    """Return what plans belong to, which the cf command line asks to be told along with them."""
    services = parts().services
    return {
        "service_plans": [show_plan(plan) for plan in services.plans.values()],
        "service_offerings": [show_offering(offering) for offering in services.offerings.values()],
        "service_brokers": [show_broker(broker) for broker in services.brokers.values()],
    }


def show_broker(broker: Broker) -> dict[str, Any]:
    """Return a broker as Cloud Controller shows it."""
    return {"guid": broker.guid, "name": broker.name, "url": broker.url, "relationships": {}}


def show_offering(offering: Offering) -> dict[str, Any]:
    """Return a service as Cloud Controller shows it."""
    return {
        "guid": offering.guid,
        "name": offering.name,
        "description": offering.description,
        "available": any(plan.visibility == "public" for plan in parts().services.plans_of(offering.guid)),
        "shareable": False,
        "tags": [],
        "requires": [],
        "broker_catalog": {
            "id": offering.catalog_id,
            "metadata": {},
            "features": {"bindable": offering.bindable, "plan_updateable": offering.plan_updateable},
        },
        "relationships": {"service_broker": {"data": {"guid": offering.broker_guid}}},
    }


def show_plan(plan: Plan) -> dict[str, Any]:
    """Return a plan as Cloud Controller shows it."""
    return {
        "guid": plan.guid,
        "name": plan.name,
        "description": plan.description,
        "free": plan.free,
        "available": plan.visibility == "public",
        "visibility_type": plan.visibility,
        "costs": [],
        "broker_catalog": {"id": plan.catalog_id, "metadata": {}, "features": {}},
        "relationships": {"service_offering": {"data": {"guid": plan.offering_guid}}},
    }


def _registration(broker: Broker) -> Any:
    operations = parts().operations
    return lambda: operations.register(broker)


def _is_visible(plan: Plan) -> bool:
    return plan.visibility == "public" or access().reads_all


def _broker(guid: str) -> Broker:
    found = parts().services.brokers.get(guid)
    if found is None or not access().reads_all:
        raise not_found("Service broker")
    return found


def _plan(guid: str) -> Plan:
    found = parts().services.plans.get(guid)
    if found is None or not _is_visible(found):
        raise not_found("Service plan")
    return found

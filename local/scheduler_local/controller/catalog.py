"""A broker's catalog: what Cloud Controller insists on, and what becomes of it."""

from collections.abc import Iterator
from typing import Any

from scheduler_local.controller.errors import ControllerError
from scheduler_local.controller.services import Broker, Offering, Plan, Services

_SERVICE_TEXTS = ("id", "name", "description")


def take_up(services: Services, broker: Broker, catalog: dict[str, Any]) -> None:
    """Offer what the catalog offers, keeping the GUIDs and visibilities of what was offered before.

    Raises ControllerError when the catalog is invalid.
    """
    mistakes = list(_mistakes(catalog))
    if mistakes:
        detail = "Service broker catalog is invalid: \n" + "\n".join(mistakes)
        raise ControllerError(502, 270012, "CF-ServiceBrokerCatalogInvalid", detail)
    with services.lock:
        known = {offering.catalog_id: offering for offering in services.offerings_of(broker.guid)}
        for service in catalog["services"]:
            _put_offering(services, broker, known.get(service["id"]), service)
    services.save()


def _put_offering(services: Services, broker: Broker, known: Offering | None, service: dict[str, Any]) -> None:
    fields = {
        "broker_guid": broker.guid,
        "catalog_id": service["id"],
        "name": service["name"],
        "description": service["description"],
        "bindable": service["bindable"],
        "plan_updateable": service.get("plan_updateable", False),
    }
    offering = Offering(**fields) if known is None else Offering(guid=known.guid, **fields)
    services.offerings[offering.guid] = offering
    plans = {plan.catalog_id: plan for plan in services.plans_of(offering.guid)}
    for plan in service["plans"]:
        _put_plan(services, offering, plans.get(plan["id"]), plan)


def _put_plan(services: Services, offering: Offering, known: Plan | None, plan: dict[str, Any]) -> None:
    fields = {
        "offering_guid": offering.guid,
        "catalog_id": plan["id"],
        "name": plan["name"],
        "description": plan["description"],
        "free": plan.get("free", True),
    }
    new = Plan(**fields) if known is None else Plan(guid=known.guid, visibility=known.visibility, **fields)
    services.plans[new.guid] = new


def _mistakes(catalog: dict[str, Any]) -> Iterator[str]:
    services = catalog.get("services")
    if not isinstance(services, list) or not services:
        yield "Service broker must provide at least one service"
        return
    ids = [service.get("id") for service in services]
    if len(set(ids)) < len(ids):
        yield "Service ids must be unique"
    for service in services:
        yield from _mistakes_of_service(service)
    plan_ids = [plan.get("id") for service in services for plan in service.get("plans") or []]
    if len(set(plan_ids)) < len(plan_ids):
        yield "Plan ids must be unique"


def _mistakes_of_service(service: dict[str, Any]) -> Iterator[str]:
    for name in _SERVICE_TEXTS:
        if not isinstance(service.get(name), str) or not service[name]:
            yield f"Service {name} must be a string and not empty, but has value {service.get(name)!r}"
    if not isinstance(service.get("bindable"), bool):
        yield f'Service "bindable" field must be a boolean, but has value {service.get("bindable")!r}'
    plans = service.get("plans")
    if not isinstance(plans, list) or not plans:
        yield "At least one plan is required"
        return
    for plan in plans:
        for name in _SERVICE_TEXTS:
            if not isinstance(plan.get(name), str) or not plan[name]:
                yield f"Plan {name} must be a string and not empty, but has value {plan.get(name)!r}"
        if not isinstance(plan.get("free", True), bool):
            yield f'Plan "free" must be a boolean, but has value {plan["free"]!r}'

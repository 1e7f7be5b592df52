"""Reading what a platform sends: known fields are checked, unknown ones ignored, as the specification asks."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from scheduler.domain.service_instances import Binding, ServiceInstance
from scheduler.runtime.web import UNREADABLE_BODY
from scheduler_broker.catalog import PLAN_ID, SERVICE_ID
from scheduler_broker.errors import MalformedRequestError

_MAX_CHARACTERS = 255

Fields = Mapping[str, Any]


def read_object(read: Callable[[], bytes]) -> Fields:
    """Return the JSON object in the body, whatever its content type was; `read` reads it from the connection.

    Raises MalformedRequestError.
    """
    try:
        body = read()
    except UNREADABLE_BODY as error:
        raise MalformedRequestError("the body cannot be read") from error
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise MalformedRequestError("the body must be a JSON object")
    return fields


def instance_from(guid: str, fields: Fields) -> ServiceInstance:
    """Return the service instance that a provision asks for."""
    check_offering(fields)
    return ServiceInstance(
        guid=_plain("instance_id", guid),
        service_id=SERVICE_ID,
        plan_id=PLAN_ID,
        organization_guid=_text(fields, "organization_guid"),
        space_guid=_text(fields, "space_guid"),
    )


def binding_from(instance_guid: str, guid: str, fields: Fields) -> Binding:
    """Return the binding that a bind asks for; without an app it is a service key."""
    check_offering(fields)
    return Binding(
        guid=_plain("binding_id", guid),
        instance_guid=_plain("instance_id", instance_guid),
        service_id=SERVICE_ID,
        plan_id=PLAN_ID,
        app_guid=_app_guid(fields),
    )


def check_offering(fields: Fields) -> None:
    """Return if service and plan are those of the catalog.

    Raises MalformedRequestError.
    """
    check_service(fields)
    if _text(fields, "plan_id") != PLAN_ID:
        raise MalformedRequestError("plan_id is not in the catalog")


def check_service(fields: Fields) -> None:
    """Return if the service is the catalog's.

    Raises MalformedRequestError.
    """
    if _text(fields, "service_id") != SERVICE_ID:
        raise MalformedRequestError("service_id is not in the catalog")


def wants_other_plan(fields: Fields) -> bool:
    """Tell whether an update names a plan that is not the one there is; it need not name any."""
    return fields.get("plan_id") is not None and _text(fields, "plan_id") != PLAN_ID


def check_ids(**ids: str) -> None:
    """Return if each id from the path is one that could have been stored.

    Raises MalformedRequestError.
    """
    for name, value in ids.items():
        _plain(name, value)


def _app_guid(fields: Fields) -> str | None:
    resource = fields.get("bind_resource")
    if resource is not None and not isinstance(resource, dict):
        raise MalformedRequestError("bind_resource must be a JSON object")
    for holder in (resource or {}, fields):  # the top level is deprecated, but still sent
        if holder.get("app_guid") is not None:
            return _text(holder, "app_guid")
    return None


def _text(fields: Fields, name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value:
        raise MalformedRequestError(f"{name} must be a non-empty string")
    return _plain(name, value)


def _plain(name: str, value: str) -> str:
    # Among what is not printable are NUL and lone surrogates, which PostgreSQL cannot store.
    if len(value) > _MAX_CHARACTERS or not value.isprintable():
        raise MalformedRequestError(f"{name} must have at most {_MAX_CHARACTERS} characters, all of them printable")
    return value

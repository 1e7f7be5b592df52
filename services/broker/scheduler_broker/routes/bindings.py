"""Bind and unbind."""

import logging
from typing import Any

from flask import Blueprint, request

from scheduler.domain.service_instances import Binding
from scheduler_broker.bodies import binding_from, check_ids, check_offering, read_object
from scheduler_broker.guarding import actor
from scheduler_broker.usecases.bindings import Bindings

_log = logging.getLogger(__name__)


def binding_routes(bindings: Bindings, *, api_url: str) -> Blueprint:
    """Return the routes of bindings and service keys."""
    path = "/service_instances/<instance_guid>/service_bindings/<binding_guid>"
    routes = Blueprint("bindings", __name__, url_prefix=path)

    @routes.put("")
    def bind(instance_guid: str, binding_guid: str) -> Any:
        bound = bindings.bind(binding_from(instance_guid, binding_guid, read_object(request.get_data)), actor())
        if bound.is_new:
            _log.info("A binding was made.", extra={"action": "bound", **_ids(bound.binding)})
        return {"credentials": _credentials(bound.binding, api_url)}, 201 if bound.is_new else 200

    @routes.delete("")
    def unbind(instance_guid: str, binding_guid: str) -> Any:
        check_ids(instance_id=instance_guid, binding_id=binding_guid)
        check_offering(request.args)
        bindings.unbind(instance_guid, binding_guid, actor())
        _log.info(
            "A binding was taken away.",
            extra={"action": "unbound", "instance_guid": instance_guid, "binding_guid": binding_guid},
        )
        return {}

    return routes


def _credentials(binding: Binding, api_url: str) -> dict[str, str]:
    """Return what the app is told; never a secret, since every caller proves who it is with a token of its own."""
    app = {} if binding.app_guid is None else {"app_guid": binding.app_guid}
    return {"api_url": api_url, "instance_id": binding.instance_guid, **app}


def _ids(binding: Binding) -> dict[str, object]:
    return {
        "instance_guid": binding.instance_guid,
        "binding_guid": binding.guid,
        "app_guid": binding.app_guid,
    }

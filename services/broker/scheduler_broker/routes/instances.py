"""Provision, update and deprovision."""

import logging
from typing import Any

from flask import Blueprint, request

from scheduler_broker.bodies import (
    check_ids,
    check_offering,
    check_service,
    instance_from,
    read_object,
    wants_other_plan,
)
from scheduler_broker.guarding import actor
from scheduler_broker.usecases.instances import Instances

_log = logging.getLogger(__name__)


def instance_routes(instances: Instances) -> Blueprint:
    """Return the routes of service instances."""
    routes = Blueprint("instances", __name__, url_prefix="/service_instances/<instance_guid>")

    @routes.put("")
    def provision(instance_guid: str) -> Any:
        asked = instance_from(instance_guid, read_object(request.get_data))
        is_new = instances.provision(asked, actor())
        if is_new:
            _log.info(
                "The scheduler was turned on for a space.",
                extra={"action": "provisioned", "instance_guid": instance_guid, "space_guid": asked.space_guid},
            )
        return {}, 201 if is_new else 200

    @routes.patch("")
    def update(instance_guid: str) -> Any:
        check_ids(instance_id=instance_guid)
        fields = read_object(request.get_data)
        check_service(fields)
        instances.update(instance_guid, wants_other_plan=wants_other_plan(fields))
        return {}

    @routes.delete("")
    def deprovision(instance_guid: str) -> Any:
        check_ids(instance_id=instance_guid)
        check_offering(request.args)
        instances.deprovision(instance_guid, actor())
        _log.info(
            "The scheduler was turned off for a space.",
            extra={"action": "deprovisioned", "instance_guid": instance_guid},
        )
        return {}

    return routes

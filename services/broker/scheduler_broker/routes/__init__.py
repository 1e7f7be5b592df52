"""The paths of the Open Service Broker API that are served; there is nothing to poll and nothing to retrieve."""

from typing import Any

from flask import Blueprint

from scheduler_broker.catalog import CATALOG
from scheduler_broker.guarding import PREFIX
from scheduler_broker.routes.bindings import binding_routes
from scheduler_broker.routes.instances import instance_routes
from scheduler_broker.usecases.bindings import Bindings
from scheduler_broker.usecases.instances import Instances


def broker_routes(instances: Instances, bindings: Bindings, *, api_url: str) -> Blueprint:
    """Return everything under /v2."""
    routes = Blueprint("broker", __name__, url_prefix=PREFIX)
    routes.register_blueprint(instance_routes(instances))
    routes.register_blueprint(binding_routes(bindings, api_url=api_url))

    @routes.get("/catalog")
    def catalog() -> Any:
        return CATALOG

    return routes

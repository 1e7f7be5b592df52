"""The one route that needs no token. Cloud Foundry's health check allows it a second, so nobody else is asked."""

from flask import Blueprint

from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.base import Answer

routes = Blueprint("health", __name__)


class HealthAnswer(Answer):
    """An empty object."""


@routes.get("/")
@operation(summary="Tell that the API is there", answers={200: HealthAnswer})
def health(_: Asked) -> Reply:
    """Return nothing, which is enough."""
    return 200, {}

"""Calls: created for an app, listed by space."""

from uuid import UUID

from flask import Blueprint

from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.calls import CallAnswer, CallBody, CallPatch
from scheduler_api.schemas.queries import AppQuery, SpaceQuery

routes = Blueprint("calls", __name__)


@routes.post("/calls")
@operation(
    summary="Create a call",
    query=AppQuery,
    body=CallBody,
    answers={201: CallAnswer},
    refusals=(403, 415, 422),
)
def create(asked: Asked) -> Reply:
    """Store a call for an app in whose space the caller is a developer."""
    app = asked.use.access.app_of(asked.caller, asked.query["app_guid"])
    return 201, asked.use.calls.create(asked.caller, app, asked.body)


@routes.get("/calls")
@operation(
    summary="List a space's calls, by name",
    query=SpaceQuery,
    answers={200: CallAnswer},
    collection=True,
    refusals=(403, 422),
)
def of_space(asked: Asked) -> Reply:
    """Return the calls that were created in the space."""
    space_guid = asked.use.access.space_of(asked.caller, asked.query)
    return 200, asked.use.calls.of_space(space_guid, asked.wanted)


@routes.get("/calls/<uuid:guid>")
@operation(summary="Show a call", answers={200: CallAnswer}, refusals=(404,))
def show(asked: Asked, guid: UUID) -> Reply:
    """Return one call, without what is secret."""
    return 200, asked.use.works.call(asked.caller, guid)


@routes.patch("/calls/<uuid:guid>")
@operation(
    summary="Change a call",
    description="Fields that are absent stay; null means back to the default. Headers are replaced as a whole.",
    body=CallPatch,
    answers={200: CallAnswer},
    refusals=(403, 404, 415, 422),
)
def change(asked: Asked, guid: UUID) -> Reply:
    """Change a call; runs that exist already take the new values when they start."""
    call = asked.use.works.call(asked.caller, guid)
    return 200, asked.use.calls.change(asked.caller, call, asked.body)

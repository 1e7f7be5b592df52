"""Deleting a job or call with everything that hangs on it, but its history."""

from uuid import UUID

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.operations import Asked, Reply, operation


def deletion_routes(kind: RefType) -> Blueprint:
    """Return the route that deletes a job or a call."""
    blueprint = Blueprint(f"{kind}_deletion", __name__)

    @blueprint.delete(f"/{kind}s/<uuid:guid>")
    @operation(
        summary=f"Delete a {kind}",
        description="First its schedules go, then its pending runs end; runs under way finish, history stays.",
        answers={204: None},
        refusals=(404,),
    )
    def delete(asked: Asked, guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        asked.use.deletion.delete_work(asked.caller, work)
        return 204, None

    return blueprint

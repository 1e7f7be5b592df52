"""The history of a job or call, and of each of its schedules."""

from uuid import UUID

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.executions import ExecutionAnswer, HistoryQuery


def history_routes(kind: RefType) -> Blueprint:
    """Return the routes that list executions."""
    blueprint = Blueprint(f"{kind}_history", __name__, url_prefix=f"/{kind}s/<uuid:guid>")

    @blueprint.get("/history")
    @operation(
        summary=f"List a {kind}'s executions, newest first",
        query=HistoryQuery,
        answers={200: ExecutionAnswer},
        collection=True,
        refusals=(404, 422),
    )
    def of_work(asked: Asked, guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        return 200, asked.use.history.of(work, asked.query, asked.wanted)

    return blueprint

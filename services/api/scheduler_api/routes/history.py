"""The history of a job or call, and of each of its schedules."""

from uuid import UUID

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.routes.schedules import SCHEDULE
from scheduler_api.schemas.executions import ExecutionAnswer, HistoryQuery
from scheduler_api.schemas.why import WhyAnswer, WhyQuery


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

    @blueprint.get(f"{SCHEDULE}/history")
    @operation(
        summary="List a schedule's executions, newest first",
        query=HistoryQuery,
        answers={200: ExecutionAnswer},
        collection=True,
        refusals=(404, 422),
    )
    def of_schedule(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        schedule = asked.use.schedules.find(work, schedule_guid)
        return 200, asked.use.history.of(work, asked.query, asked.wanted, schedule.guid)

    @blueprint.get(f"{SCHEDULE}/why")
    @operation(
        summary="Say what became of an instant of a schedule",
        query=WhyQuery,
        answers={200: WhyAnswer},
        refusals=(404, 422),
    )
    def why(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        schedule = asked.use.schedules.find(work, schedule_guid)
        return 200, asked.use.reasons.why(schedule, asked.query["at"])

    return blueprint

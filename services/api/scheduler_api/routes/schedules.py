"""Schedules of a job or call, and what can be done to each."""

from uuid import UUID

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.paging import PageQuery
from scheduler_api.schemas.schedule_answers import ScheduleAnswer
from scheduler_api.schemas.schedules import ScheduleBody, SchedulePatch

SCHEDULE = "/schedules/<uuid:schedule_guid>"


def schedule_routes(kind: RefType) -> Blueprint:
    """Return the routes for the schedules of jobs or of calls."""
    blueprint = Blueprint(f"{kind}_schedules", __name__, url_prefix=f"/{kind}s/<uuid:guid>")

    @blueprint.post("/schedules")
    @operation(
        summary=f"Create a schedule for a {kind}",
        body=ScheduleBody,
        answers={201: ScheduleAnswer},
        refusals=(403, 404, 415, 422),
    )
    def create(asked: Asked, guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        return 201, asked.use.schedules.create(asked.caller, work, asked.body)

    @blueprint.get("/schedules")
    @operation(
        summary=f"List a {kind}'s schedules, oldest first",
        query=PageQuery,
        answers={200: ScheduleAnswer},
        collection=True,
        refusals=(404, 422),
    )
    def of_work(asked: Asked, guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        return 200, asked.use.schedules.of(work, asked.wanted)

    @blueprint.get(SCHEDULE)
    @operation(summary="Show a schedule", answers={200: ScheduleAnswer}, refusals=(404,))
    def show(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        return 200, asked.use.schedules.find(work, schedule_guid)

    @blueprint.patch(SCHEDULE)
    @operation(
        summary="Change a schedule",
        description="Fields that are absent stay; null means back to the default. The next run is planned anew from"
        " now; nothing fires because of the change.",
        body=SchedulePatch,
        answers={200: ScheduleAnswer},
        refusals=(403, 404, 415, 422),
    )
    def change(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        return 200, asked.use.schedules.change(asked.caller, work, schedule_guid, asked.body)

    @blueprint.delete(SCHEDULE)
    @operation(
        summary="Delete a schedule",
        description="It never fires again. Runs that are under way finish, pending ones end, history stays.",
        answers={204: None},
        refusals=(404,),
    )
    def delete(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        asked.use.deletion.delete_schedule(asked.caller, work, schedule_guid)
        return 204, None

    return blueprint

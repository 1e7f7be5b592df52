"""All schedules of a space."""

from flask import Blueprint

from scheduler.store.space_schedules import SpaceFilter
from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.queries import SpaceSchedulesQuery
from scheduler_api.schemas.schedule_answers import SpaceScheduleAnswer

routes = Blueprint("space_schedules", __name__)


@routes.get("/schedules")
@operation(
    summary="List all schedules of a space, those that run next first",
    query=SpaceSchedulesQuery,
    answers={200: SpaceScheduleAnswer},
    collection=True,
    refusals=(403, 422),
)
def of_space(asked: Asked) -> Reply:
    """Return the schedules of jobs and calls that were created in the space."""
    query = asked.query
    which = SpaceFilter(
        space_guid=asked.use.access.space_of(asked.caller, query),
        state=query.get("state"),
        enabled=query.get("enabled"),
        words=query.get("q", ""),
    )
    return 200, asked.use.schedules.of_space(which, asked.wanted)

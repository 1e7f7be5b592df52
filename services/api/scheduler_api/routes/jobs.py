"""Jobs: created for an app, listed by space."""

from uuid import UUID

from flask import Blueprint

from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.jobs import JobAnswer, JobBody, JobPatch
from scheduler_api.schemas.queries import AppQuery, SpaceQuery

routes = Blueprint("jobs", __name__)


@routes.post("/jobs")
@operation(
    summary="Create a job",
    query=AppQuery,
    body=JobBody,
    answers={201: JobAnswer},
    refusals=(403, 415, 422),
)
def create(asked: Asked) -> Reply:
    """Store a job for an app in whose space the caller is a developer."""
    app = asked.use.access.app_of(asked.caller, asked.query["app_guid"])
    return 201, asked.use.jobs.create(asked.caller, app, asked.body)


@routes.get("/jobs")
@operation(
    summary="List a space's jobs, by name",
    query=SpaceQuery,
    answers={200: JobAnswer},
    collection=True,
    refusals=(403, 422),
)
def of_space(asked: Asked) -> Reply:
    """Return the jobs that were created in the space."""
    space_guid = asked.use.access.space_of(asked.caller, asked.query)
    return 200, asked.use.jobs.of_space(space_guid, asked.wanted)


@routes.get("/jobs/<uuid:guid>")
@operation(summary="Show a job", answers={200: JobAnswer}, refusals=(404,))
def show(asked: Asked, guid: UUID) -> Reply:
    """Return one job."""
    return 200, asked.use.works.job(asked.caller, guid)


@routes.patch("/jobs/<uuid:guid>")
@operation(
    summary="Change a job",
    description="Fields that are absent stay; null means back to the default.",
    body=JobPatch,
    answers={200: JobAnswer},
    refusals=(403, 404, 415, 422),
)
def change(asked: Asked, guid: UUID) -> Reply:
    """Change a job; runs that exist already take the new values when they start."""
    job = asked.use.works.job(asked.caller, guid)
    return 200, asked.use.jobs.change(asked.caller, job, asked.body)

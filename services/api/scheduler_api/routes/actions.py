"""Actions on a schedule: pause, resume, trigger, revalidate."""

from uuid import UUID

from flask import Blueprint

from scheduler.domain.states import RefType, ResumePolicy
from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.routes.schedules import SCHEDULE
from scheduler_api.schemas.executions import ExecutionAnswer
from scheduler_api.schemas.schedule_answers import ScheduleAnswer
from scheduler_api.schemas.schedules import PauseBody, ResumeBody, TriggerBody


def action_routes(kind: RefType) -> Blueprint:
    """Return the routes for the schedules of jobs or of calls."""
    blueprint = Blueprint(f"{kind}_actions", __name__, url_prefix=f"/{kind}s/<uuid:guid>{SCHEDULE}/actions")

    @blueprint.post("/pause")
    @operation(
        summary="Pause a schedule",
        description="Stops new runs, not those that exist. With `until` it resumes by itself.",
        body=PauseBody,
        body_may_be_empty=True,
        answers={200: ScheduleAnswer},
        refusals=(404, 415, 422),
    )
    def pause(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        return 200, asked.use.controls.pause(asked.caller, work, schedule_guid, **asked.body)

    @blueprint.post("/resume")
    @operation(
        summary="Resume a paused schedule",
        description="`missed` says what becomes of the runs that the pause left out.",
        body=ResumeBody,
        body_may_be_empty=True,
        answers={200: ScheduleAnswer},
        refusals=(403, 404, 415, 422),
    )
    def resume(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        missed = asked.body.get("missed", ResumePolicy.SKIP_PAUSED)
        return 200, asked.use.controls.resume(asked.caller, work, schedule_guid, missed=missed)

    @blueprint.post("/trigger")
    @operation(
        summary="Run a schedule's job or call once more, now",
        description="Also while the schedule is paused; its timetable does not move. The overlap rule holds: where it"
        " forbids the run, the answer is a SKIPPED execution. A known `trigger_id` is answered with its execution"
        " and 200.",
        body=TriggerBody,
        body_may_be_empty=True,
        answers={201: ExecutionAnswer, 200: ExecutionAnswer},
        refusals=(403, 404, 415, 422),
    )
    def trigger(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        trigger_id = asked.body.get("trigger_id")
        started = asked.use.controls.trigger(asked.caller, work, schedule_guid, trigger_id=trigger_id)
        return 201 if started.is_new else 200, started.execution

    @blueprint.post("/revalidate")
    @operation(
        summary="Take a schedule out of needs_review",
        description="It goes on from now; what was left out is recorded as skipped. A body is ignored.",
        answers={200: ScheduleAnswer},
        refusals=(403, 404, 422),
    )
    def revalidate(asked: Asked, guid: UUID, schedule_guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        return 200, asked.use.controls.revalidate(asked.caller, work, schedule_guid)

    return blueprint

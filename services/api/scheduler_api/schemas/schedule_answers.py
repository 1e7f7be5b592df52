"""Schedules, as they are shown."""

from datetime import datetime
from typing import Any

from marshmallow import fields, post_dump, pre_dump, validate

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.schedules import Schedule
from scheduler.domain.states import ExpressionType, MisfirePolicy, PausedBy, RefType, ScheduleState
from scheduler.store.space_schedules import Named
from scheduler.timetable.describing import describe
from scheduler_api.schemas.base import Answer
from scheduler_api.schemas.executions import ref_guid
from scheduler_api.schemas.fields import ComputedInstant, Instant


class MisfireAnswer(Answer):
    """What becomes of missed runs."""

    policy = fields.String(required=True, validate=validate.OneOf(list(MisfirePolicy)))
    grace_seconds = fields.Integer(required=True)
    max_runs = fields.Integer(required=True)
    max_age_seconds = fields.Integer(required=True)


def state_of(schedule: Schedule) -> ScheduleState:
    """Return the state as it is shown: rest before pause before activity."""
    progress = schedule.progress
    if progress.state in {ScheduleState.FINISHED, ScheduleState.NEEDS_REVIEW}:
        return progress.state
    return ScheduleState.ACTIVE if progress.enabled else ScheduleState.PAUSED


def next_run_of(schedule: Schedule) -> datetime | None:
    """Return when the schedule fires next; a paused one does not, it is only looked at again."""
    return schedule.progress.next_fire_at if state_of(schedule) is ScheduleState.ACTIVE else None


def description_of(schedule: Schedule) -> str:
    """Return the expression in words, also when a newer time zone database has made it unreadable."""
    try:
        return describe(schedule.definition)
    except InvalidInputError as error:
        return f"cannot be read any more: {error}"


class ScheduleAnswer(Answer):
    """A schedule."""

    guid = fields.UUID(required=True)
    job_guid = ref_guid(RefType.JOB)
    call_guid = ref_guid(RefType.CALL)
    enabled = fields.Boolean(required=True, attribute="progress.enabled")
    expression = fields.String(required=True, attribute="definition.expression")
    expression_type = fields.String(
        required=True, attribute="definition.expression_type", validate=validate.OneOf(list(ExpressionType))
    )
    description = fields.Function(description_of, required=True, metadata={"type": "string"})
    state = fields.Function(state_of, required=True, metadata={"type": "string", "enum": list(ScheduleState)})
    next_run_at = ComputedInstant(next_run_of, required=True, allow_none=True)
    last_run_at = Instant(required=True, allow_none=True, attribute="progress.last_fire_at")
    time_zone = fields.String(required=True, allow_none=True, attribute="definition.time_zone")
    day_match = fields.String(required=True, attribute="definition.day_match")
    on_gap = fields.String(required=True, attribute="definition.on_gap")
    on_fold = fields.String(required=True, attribute="definition.on_fold")
    misfire = fields.Nested(MisfireAnswer, required=True, attribute="definition.misfire")
    overlap = fields.String(required=True, attribute="definition.overlap")
    start_deadline_seconds = fields.Integer(required=True, attribute="definition.start_deadline_seconds")
    delete_after_run = fields.Boolean(required=True, attribute="definition.delete_after_run")
    start_time = Instant(required=True, allow_none=True, attribute="definition.start_time")
    end_time = Instant(required=True, allow_none=True, attribute="definition.end_time")
    max_runs = fields.Integer(required=True, allow_none=True, attribute="definition.max_runs")
    metadata = fields.Raw(required=True, metadata={"type": "object", "additionalProperties": True})
    paused_by = fields.String(
        required=True, allow_none=True, attribute="progress.paused_by", validate=validate.OneOf([*PausedBy, None])
    )
    pause_note = fields.String(required=True, allow_none=True, attribute="progress.pause_note")
    paused_until = Instant(required=True, allow_none=True, attribute="progress.paused_until")
    run_count = fields.Integer(required=True, attribute="progress.run_count")
    missed_count = fields.Integer(required=True, attribute="progress.missed_count")
    skipped_count = fields.Integer(required=True, attribute="progress.skipped_count")
    definition_version = fields.Integer(required=True)
    created_at = Instant(required=True)
    updated_at = Instant(required=True)

    @post_dump
    def leave_out_the_other_kind(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the schedule with the one guid that it has."""
        del data["job_guid" if data["job_guid"] is None else "call_guid"]
        return data


class SpaceScheduleAnswer(ScheduleAnswer):
    """A schedule in the list of a space, with the name of its job or call."""

    ref_type = fields.String(required=True, validate=validate.OneOf(list(RefType)))
    ref_name = fields.String(required=True, allow_none=True, metadata={"description": "null: the job or call is gone"})

    @pre_dump
    def take_schedule(self, named: Named, **_: Any) -> Schedule:
        """Return what most fields are taken from."""
        return named.schedule

    @post_dump(pass_original=True)
    def add_name(self, data: dict[str, Any], original: Named, **_: Any) -> dict[str, Any]:
        """Return the fields with the name."""
        return data | {"ref_name": original.ref_name}

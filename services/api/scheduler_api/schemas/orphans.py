"""Jobs and calls without an app, schedules without a job or call, and what became of those that were to go."""

from typing import Any

from marshmallow import fields, post_dump, validate

from scheduler.domain.states import RefType
from scheduler_api.schemas.base import Answer, Body
from scheduler_api.schemas.fields import Instant
from scheduler_api.usecases.orphans import Result


class OrphanedScheduleAnswer(Answer):
    """A schedule of an orphaned job or call."""

    guid = fields.UUID(required=True)
    enabled = fields.Boolean(required=True, attribute="progress.enabled")
    expression = fields.String(required=True, attribute="definition.expression")
    expression_type = fields.String(required=True, attribute="definition.expression_type")
    created_at = Instant(required=True)
    updated_at = Instant(required=True)


class OrphanScheduleAnswer(OrphanedScheduleAnswer):
    """A schedule whose job or call is not stored."""

    ref_type = fields.String(required=True, validate=validate.OneOf(list(RefType)))
    ref_guid = fields.UUID(required=True)


class OrphanAnswer(Answer):
    """A job or call whose app is gone."""

    guid = fields.UUID(required=True, attribute="work.guid")
    type = fields.String(required=True, attribute="work.ref_type", validate=validate.OneOf(list(RefType)))
    name = fields.String(required=True, attribute="work.name")
    app_guid = fields.String(required=True, attribute="work.app_guid")
    space_guid = fields.String(required=True, attribute="work.space_guid")
    schedules = fields.List(fields.Nested(OrphanedScheduleAnswer), required=True)


class OrphansAnswer(Answer):
    """Everything without an owner, in every space."""

    resources = fields.List(
        fields.Nested(OrphanAnswer), required=True, metadata={"description": "sorted by space, app, type and name"}
    )
    orphan_schedules = fields.List(
        fields.Nested(OrphanScheduleAnswer),
        required=True,
        metadata={"description": "sorted by ref_type, ref_guid and guid"},
    )


class OrphansDeleteBody(Body):
    """What is to go."""

    guids = fields.List(
        fields.String(error_messages={"invalid": "must be a string", "null": "must be a string"}),
        required=True,
        validate=validate.Length(min=1, error="must name at least one GUID"),
        error_messages={"required": "is missing", "null": "must not be null", "invalid": "must be a list of GUIDs"},
        metadata={"description": "of jobs, calls and schedules, in any mixture"},
    )


class OutcomeAnswer(Answer):
    """What became of one GUID."""

    guid = fields.String(required=True, metadata={"description": "as it was sent"})
    type = fields.String(
        required=True,
        validate=validate.OneOf([*RefType, "schedule", ""]),
        metadata={"description": "empty when it is not known"},
    )
    result = fields.String(required=True, validate=validate.OneOf(list(Result)))
    message = fields.String()

    @post_dump
    def leave_out_no_message(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return what is set."""
        return {name: value for name, value in data.items() if value is not None}


class OutcomesAnswer(Answer):
    """One result for each distinct GUID, in the order in which they were sent."""

    results = fields.List(fields.Nested(OutcomeAnswer), required=True)

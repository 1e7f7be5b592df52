"""Executions, as lists show them and as one is shown with all it knows."""

from enum import StrEnum
from typing import Any

from marshmallow import fields, post_dump, validate

from scheduler.domain.states import ExecutionState, Reason, RefType, Trigger
from scheduler_api.explanations import explain
from scheduler_api.schemas.base import Answer
from scheduler_api.schemas.fields import Instant, Several, Word
from scheduler_api.schemas.paging import PageQuery


def _one_of(words: type[StrEnum], **kwargs: Any) -> fields.String:
    return fields.String(validate=validate.OneOf(list(words)), **kwargs)


def ref_guid(kind: RefType) -> fields.Function:
    """Return the field that names the job or call, absent on the other kind."""
    return fields.Function(
        lambda row: str(row.ref_guid) if row.ref_type is kind else None,
        metadata={"type": "string", "format": "uuid", "description": f"of a {kind}'s execution or schedule only"},
    )


class ExecutionAnswer(Answer):
    """One run, or a range of instants at which nothing ran."""

    guid = fields.UUID(required=True)
    job_guid = ref_guid(RefType.JOB)
    call_guid = ref_guid(RefType.CALL)
    task_guid = fields.String(allow_none=True, metadata={"description": "of a job's execution only"})
    schedule_guid = fields.UUID(metadata={"description": "absent on manual runs"})
    scheduled_time = Instant(required=True, allow_none=True, metadata={"description": "null: run by hand"})
    trigger = _one_of(Trigger, required=True)
    state = _one_of(ExecutionState, required=True)
    reason = _one_of(Reason, required=True, allow_none=True)
    message = fields.String(required=True)
    attempt = fields.Integer(required=True)
    execution_start_time = Instant(required=True, allow_none=True)
    execution_end_time = Instant(required=True, allow_none=True)
    http_status = fields.Integer(required=True, allow_none=True)
    duration_ms = fields.Integer(required=True, allow_none=True)
    covers_from = Instant(required=True, allow_none=True)
    covers_to = Instant(required=True, allow_none=True)
    covers_count = fields.Integer(required=True, allow_none=True)
    previous_execution_guid = fields.UUID(required=True, allow_none=True)
    created_at = Instant(required=True)

    @post_dump
    def leave_out_what_does_not_apply(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the fields that the reference has for this kind of execution (checklist 122)."""
        absent = {"job_guid": "call_guid", "call_guid": "job_guid"}
        for name in absent:
            if data[name] is None:
                del data[name]
        if "job_guid" not in data:
            del data["task_guid"]
        if data["schedule_guid"] is None:
            del data["schedule_guid"]
        return data


class WholeExecutionAnswer(ExecutionAnswer):
    """One execution with all that is known about it."""

    explanation = fields.Function(
        explain, required=True, metadata={"type": "string", "description": "state and reason in words"}
    )
    space_guid = fields.String(required=True)
    definition_version = fields.Integer(
        required=True, allow_none=True, metadata={"description": "under which version of its schedule it was planned"}
    )
    serial = fields.Boolean(required=True, metadata={"description": "waits for others of its schedule"})
    not_before = Instant(required=True, allow_none=True)
    start_by = Instant(required=True, allow_none=True)
    queued_at = Instant(required=True, allow_none=True)
    cancel_requested_at = Instant(required=True, allow_none=True)


class HistoryQuery(PageQuery):
    """Which executions."""

    state = Several(Word(ExecutionState), metadata={"description": "one or more states, separated by commas"})
    trigger = Several(Word(Trigger), metadata={"description": "one or more triggers, separated by commas"})
    since = Instant(metadata={"description": "created at this instant or later"})
    until = Instant(metadata={"description": "created before this instant"})
    before = fields.UUID(metadata={"description": "older than this execution; set in `next`"})
    after = fields.UUID(metadata={"description": "newer than this execution; set in `previous`"})

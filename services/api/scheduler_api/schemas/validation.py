"""What is asked and answered about an expression (checklist 137-140)."""

from typing import Any

from marshmallow import ValidationError, fields, pre_dump, validate, validates_schema

from scheduler.domain.states import RefType
from scheduler.timetable.analysis import MAX_RUNS
from scheduler.timetable.documents import analysis_document
from scheduler_api.schemas.base import Answer, Body
from scheduler_api.schemas.errors import FindingAnswer
from scheduler_api.schemas.fields import MAX_GUID_CHARACTERS, Instant, Text, Whole
from scheduler_api.schemas.paging import PaginationAnswer
from scheduler_api.schemas.schedules import MAX_EXPRESSION_CHARACTERS, ScheduleBody
from scheduler_api.usecases.validation import Analysed
from scheduler_api.usecases.works import Work, kind_of


class ValidateBody(ScheduleBody):
    """An expression with what may stand beside it in a schedule, or a job or call, or both."""

    class Meta(Body.Meta):
        exclude = ("metadata", "enabled")

    expression = Text(most=MAX_EXPRESSION_CHARACTERS, lines=True, allow_none=True)
    ref_type = fields.String(allow_none=True, metadata={"enum": [*RefType, "", None]})
    ref_guid = Text(most=MAX_GUID_CHARACTERS, allow_none=True)
    since = Instant(data_key="from", allow_none=True, metadata={"description": "list runs from here; default now"})
    next = Whole(least=0, most=MAX_RUNS, allow_none=True, metadata={"description": "how many runs; default 5"})
    prev = Whole(least=0, most=MAX_RUNS, allow_none=True, metadata={"description": "how many past runs; default 0"})

    @validates_schema
    def check_what_it_is_about(self, data: dict[str, Any], **_: Any) -> None:
        """Refuse what leaves open what to look at (checklist 139)."""
        ref_type, ref_guid = data.get("ref_type"), data.get("ref_guid")
        if not data.get("expression") and not ref_guid and not ref_type:
            raise ValidationError("give an expression, a job or call, or both")
        if bool(ref_type) != bool(ref_guid):
            raise ValidationError("ref_type and ref_guid go together")
        if ref_type and ref_type not in set(RefType):
            raise ValidationError("must be job or call", "ref_type")


class RefAnswer(Answer):
    """The job or call that the expression was looked at for."""

    type = fields.String(required=True, validate=validate.OneOf(list(RefType)))
    guid = fields.UUID(required=True)
    name = fields.String(required=True)


class HashedFieldAnswer(Answer):
    """What an H stands for."""

    field = fields.String(required=True)
    value = fields.String(required=True)
    resolved = fields.String(required=True)


class AnalysisAnswer(Answer):
    """What the scheduler would do with an expression."""

    expression = fields.String(required=True)
    ref = fields.Nested(RefAnswer)
    schedule_guid = fields.UUID(metadata={"description": "of a stored schedule only"})
    enabled = fields.Boolean(metadata={"description": "of a stored schedule only"})
    valid = fields.Boolean(required=True)
    description = fields.String(required=True)
    location = fields.String(metadata={"description": "the time zone; absent for intervals"})
    illustrative = fields.Boolean(
        required=True, metadata={"description": "an H was resolved; runs differ from job to job"}
    )
    hashed_fields = fields.List(fields.Nested(HashedFieldAnswer), required=True)
    since = Instant(data_key="from", required=True)
    next_runs = fields.List(fields.String(metadata={"format": "date-time"}), required=True)
    prev_runs = fields.List(fields.String(metadata={"format": "date-time"}), required=True)
    errors = fields.List(fields.Nested(FindingAnswer), required=True)
    warnings = fields.List(fields.Nested(FindingAnswer), required=True)

    @pre_dump
    def as_document(self, analysed: Analysed, **_: Any) -> dict[str, Any]:
        """Return what the analysis and its subject say; what does not apply is left out."""
        document = {**analysis_document(analysed.analysis), "since": analysed.since}
        if analysed.work is not None:
            document["ref"] = ref_of(analysed.work)
        if analysed.schedule is not None:
            document |= {"schedule_guid": analysed.schedule.guid, "enabled": analysed.schedule.progress.enabled}
        return document


class StoredAnalysesAnswer(Answer):
    """The analyses of all stored schedules of a job or call."""

    pagination = fields.Nested(PaginationAnswer, required=True)
    ref = fields.Nested(RefAnswer, required=True)
    resources = fields.List(fields.Nested(AnalysisAnswer), required=True)


def ref_of(work: Work) -> dict[str, Any]:
    """Return how a job or call is named."""
    return {"type": kind_of(work), "guid": work.guid, "name": work.name}

"""The shape of the configuration file, and what each part of it becomes."""

from collections.abc import Mapping
from dataclasses import fields as fields_of
from datetime import datetime
from enum import StrEnum
from typing import Any

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.schedules import Definition, Misfire
from scheduler.domain.states import DayMatch, ExpressionType, MisfirePolicy, OnFold, OnGap, Overlap, RefType
from scheduler.policies import broken_rules, default_overlap
from scheduler.store.owners import OwnerQuery
from scheduler.timetable import PLACEHOLDER_KEY, compile_timetable
from scheduler_ticker.declarations import Declaration

_SOME_TEXT = validate.Length(min=1, max=255)
_DEFINITION = {each.name for each in fields_of(Definition)}


class _Flag(fields.Boolean):
    truthy = {True}  # noqa: RUF012 - as the base class has it
    falsy = {False}  # noqa: RUF012


class _Instant(fields.Field[datetime]):
    """An instant with its offset; YAML has read it already, unless it was quoted."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> datetime:
        try:
            instant = value if isinstance(value, datetime) else datetime.fromisoformat(value)
        except (TypeError, ValueError):
            instant = None
        if instant is None or instant.tzinfo is None:
            raise ValidationError("must be an instant with an offset, such as 2027-01-01T10:30:00Z")
        return instant


def _word(kind: type[StrEnum]) -> fields.Field[Any]:
    return fields.Enum(kind, by_value=True)


class SystemJobSchema(Schema):
    """When a system job runs, if at all."""

    enabled = _Flag()
    expression = fields.String()
    time_zone = fields.String(allow_none=True)

    @validates_schema
    def check_expression(self, data: Mapping[str, Any], **_: Any) -> None:
        """Refuse what no timetable can be made of."""
        if "expression" in data:
            definition = Definition(expression=data["expression"], time_zone=data.get("time_zone"))
            _check(definition)


class SystemJobsSchema(Schema):
    """The system jobs there are."""

    history_clean_up = fields.Nested(SystemJobSchema)
    audit_clean_up = fields.Nested(SystemJobSchema)


class _OwnerSchema(Schema):
    """A job or call: by its guid, or by its name in an app or in a space."""

    guid = fields.UUID()
    name = fields.String(validate=_SOME_TEXT)
    app_guid = fields.String(validate=_SOME_TEXT)
    space_guid = fields.String(validate=_SOME_TEXT)

    @validates_schema
    def check_way(self, data: Mapping[str, Any], **_: Any) -> None:
        """Refuse what names nothing, or too much."""
        if set(data) not in ({"guid"}, {"name", "app_guid"}, {"name", "space_guid"}):
            raise ValidationError("needs either guid, or name and app_guid, or name and space_guid")


class _MisfireSchema(Schema):
    policy = _word(MisfirePolicy)
    grace_seconds = fields.Integer(strict=True)
    max_runs = fields.Integer(strict=True)
    max_age_seconds = fields.Integer(strict=True)

    @post_load
    def make(self, data: Mapping[str, Any], **_: Any) -> Misfire:
        """Return the value."""
        return Misfire(**data)


class ScheduleSchema(Schema):
    """A declared schedule."""

    name = fields.String(required=True, validate=_SOME_TEXT)
    job = fields.Nested(_OwnerSchema)
    call = fields.Nested(_OwnerSchema)
    expression = fields.String(required=True)
    expression_type = _word(ExpressionType)
    time_zone = fields.String(allow_none=True)
    day_match = _word(DayMatch)
    on_gap = _word(OnGap)
    on_fold = _word(OnFold)
    misfire = fields.Nested(_MisfireSchema)
    overlap = _word(Overlap)
    start_deadline_seconds = fields.Integer(strict=True)
    start_time = _Instant()
    end_time = _Instant()
    max_runs = fields.Integer(strict=True)
    delete_after_run = _Flag()
    enabled = _Flag(load_default=True)
    metadata = fields.Dict(keys=fields.String(), load_default=dict)

    @validates_schema
    def check_owner(self, data: Mapping[str, Any], **_: Any) -> None:
        """Refuse what belongs to nothing, or to two things."""
        if ("job" in data) == ("call" in data):
            raise ValidationError("needs either job or call")

    @post_load
    def make(self, data: dict[str, Any], **_: Any) -> Declaration:
        """Return the declaration; what it does not name has the default of the API."""
        wish = {name: value for name, value in data.items() if name in _DEFINITION}
        wish["expression"] = wish["expression"].strip()
        wish.setdefault("overlap", default_overlap(wish.get("expression_type", ExpressionType.CRON)))
        definition = Definition(**wish)
        _check(definition)
        kind = RefType.JOB if "job" in data else RefType.CALL
        return Declaration(
            name=data["name"],
            owner=OwnerQuery(kind=kind, **data[kind]),
            definition=definition,
            enabled=data["enabled"],
            metadata=data["metadata"],
        )


class FileSchema(Schema):
    """The whole file."""

    system_jobs = fields.Nested(SystemJobsSchema, load_default=dict)
    schedules = fields.List(fields.Nested(ScheduleSchema), load_default=list)

    @validates_schema
    def check_names(self, data: Mapping[str, Any], **_: Any) -> None:
        """Refuse two declarations that would be one schedule."""
        names = [(declaration.owner, declaration.name) for declaration in data.get("schedules", ())]
        twice = sorted({name for owner, name in names if names.count((owner, name)) > 1})
        if twice:
            raise ValidationError(f"declared twice: {', '.join(twice)}", "schedules")


def _check(definition: Definition) -> None:
    findings = list(broken_rules(definition))
    try:
        compile_timetable(definition, hash_key=PLACEHOLDER_KEY)
    except InvalidInputError as error:
        findings += error.findings
    if findings:
        raise ValidationError({_place(finding): [finding.message] for finding in findings})


def _place(finding: Finding) -> str:
    """Return the field of the file; parts of an expression, such as its hours, are in that."""
    name = finding.field or ""
    return name if name.partition(".")[0] in _DEFINITION else "expression"

"""The one shape of every error."""

from marshmallow import fields, post_dump

from scheduler_api.schemas.base import Answer


class FindingAnswer(Answer):
    """One error or warning."""

    code = fields.String(required=True, metadata={"description": "stable, for programs"})
    message = fields.String(required=True, metadata={"description": "for people"})
    field = fields.String(metadata={"description": "the field of the request, or the part of the expression"})
    value = fields.String(metadata={"description": "what stood there"})
    valid_range = fields.String()
    offset = fields.Integer(metadata={"description": "bytes from the start of the expression"})

    @post_dump
    def leave_out_nulls(self, data: dict[str, object], **_: object) -> dict[str, object]:
        """Return what is set."""
        return {name: value for name, value in data.items() if value is not None}


class ErrorAnswer(Answer):
    """What is wrong."""

    errors = fields.List(fields.Nested(FindingAnswer), required=True)
    warnings = fields.List(fields.Nested(FindingAnswer), required=True)

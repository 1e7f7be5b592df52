"""Who did what, as it is shown and asked for."""

from marshmallow import fields

from scheduler_api.schemas.base import Answer
from scheduler_api.schemas.fields import MAX_GUID_CHARACTERS, Instant, Text
from scheduler_api.schemas.paging import PageQuery


class AuditQuery(PageQuery):
    """Which audit events; only admins may leave out the space."""

    space_guid = Text(most=MAX_GUID_CHARACTERS)
    target_guid = Text(most=MAX_GUID_CHARACTERS, metadata={"description": "of a job, call, schedule or execution"})
    actor_guid = Text(most=MAX_GUID_CHARACTERS, metadata={"description": "of a user"})
    action = Text(most=MAX_GUID_CHARACTERS, metadata={"examples": ["schedule.pause"]})
    since = Instant(metadata={"description": "at this instant or later"})
    until = Instant(metadata={"description": "before this instant"})
    before = fields.UUID(metadata={"description": "older than this event; set in `next`"})
    after = fields.UUID(metadata={"description": "newer than this event; set in `previous`"})


class AuditEventAnswer(Answer):
    """Who did what, when, to what."""

    guid = fields.UUID(required=True)
    action = fields.String(required=True)
    actor_guid = fields.String(required=True)
    actor_name = fields.String(required=True)
    target_type = fields.String(required=True)
    target_guid = fields.String(required=True)
    space_guid = fields.String(required=True)
    data = fields.Raw(required=True, metadata={"type": "object", "additionalProperties": True})
    created_at = Instant(required=True)

"""Jobs, as they are sent and shown."""

from typing import Any

from marshmallow import Schema, fields, post_load

from scheduler.domain.jobs import DEFAULT_DISK_IN_MB, DEFAULT_MEMORY_IN_MB, MAX_COMMAND_CHARACTERS
from scheduler_api.schemas.base import Answer, Body, Patch
from scheduler_api.schemas.fields import MAX_NAME_CHARACTERS, Flag, Instant, Text, Whole

_MAX_MEGABYTES = 1_048_576  # a tebibyte
_MAX_LOG_RATE = 1_000_000_000_000
_UNLIMITED_LOG_RATE = -1  # Cloud Controller's own word for it


def _name(**kwargs: Any) -> Text:
    return Text(most=MAX_NAME_CHARACTERS, blank=False, metadata={"examples": ["nightly-backup"]}, **kwargs)


def _command(**kwargs: Any) -> Text:
    return Text(
        most=MAX_COMMAND_CHARACTERS, blank=False, lines=True, metadata={"examples": ["rake db:migrate"]}, **kwargs
    )


class _JobOptions(Schema):
    disk_in_mb = Whole(least=0, most=_MAX_MEGABYTES, allow_none=True, metadata={"description": "0: the default, 1024"})
    memory_in_mb = Whole(
        least=0, most=_MAX_MEGABYTES, allow_none=True, metadata={"description": "0: the default, 1024"}
    )
    log_rate_in_bps = Whole(
        least=_UNLIMITED_LOG_RATE,
        most=_MAX_LOG_RATE,
        allow_none=True,
        metadata={"description": "bytes per second; 0: the platform's default, -1: no limit"},
    )
    pass_context = Flag(
        allow_none=True,
        metadata={
            "description": "let the command see SCHEDULER_EXECUTION_GUID, SCHEDULER_SCHEDULED_TIME,"
            " SCHEDULER_PREVIOUS_EXECUTION_GUID and SCHEDULER_PREVIOUS_TASK_GUID"
        },
    )

    @post_load
    def read_zero_as_default(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the sizes that Go's zero values stand for (checklist 101)."""
        defaults = {"disk_in_mb": DEFAULT_DISK_IN_MB, "memory_in_mb": DEFAULT_MEMORY_IN_MB}
        return {name: value or defaults.get(name, value) for name, value in data.items()}


class JobBody(_JobOptions, Body):
    """A new job."""

    name = _name(required=True)
    command = _command(required=True)


class JobPatch(_JobOptions, Patch):
    """What is to change about a job."""

    name = _name()
    command = _command()


class JobAnswer(Answer):
    """A job."""

    guid = fields.UUID(required=True)
    name = fields.String(required=True)
    command = fields.String(required=True)
    disk_in_mb = fields.Integer(required=True)
    memory_in_mb = fields.Integer(required=True)
    log_rate_in_bps = fields.Integer(required=True)
    pass_context = fields.Boolean(required=True)
    state = fields.String(required=True, metadata={"description": "always PENDING; kept for old clients"})
    app_guid = fields.String(required=True)
    space_guid = fields.String(required=True, metadata={"description": "the app's space when the job was created"})
    created_at = Instant(required=True)
    updated_at = Instant(required=True)

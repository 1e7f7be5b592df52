"""The time zones that expressions may name."""

from flask import Blueprint
from marshmallow import fields

from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.pagination import all_of
from scheduler_api.schemas.base import Answer

routes = Blueprint("time_zones", __name__)


class TimeZoneAnswer(Answer):
    """A zone, named as the reference names things (checklist 141)."""

    Name = fields.String(required=True)
    IsServerTimeZone = fields.String(metadata={"description": "yes, or absent"})
    HasDst = fields.Boolean(required=True)
    Std = fields.String(required=True)
    Dst = fields.String()
    Aliases = fields.List(fields.String())
    Rules = fields.String()


@routes.get("/scheduler-time-zones")
@operation(
    summary="List the time zones",
    answers={200: TimeZoneAnswer},
    collection=True,
    refusals=(403,),
)
def time_zones(asked: Asked) -> Reply:
    """Return all of them, in one page."""
    asked.use.access.check_any_space(asked.caller)
    return 200, all_of(asked.use.time_zones)

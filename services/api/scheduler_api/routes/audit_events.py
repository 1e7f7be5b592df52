"""Who did what."""

from flask import Blueprint

from scheduler.store.audit_events import AuditFilter
from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.audit_events import AuditEventAnswer, AuditQuery

routes = Blueprint("audit_events", __name__)

_FILTERS = ("space_guid", "target_guid", "actor_guid", "action", "since", "until")


@routes.get("/audit-events")
@operation(
    summary="List who did what, newest first",
    description="In one space; admins may leave out `space_guid` and see all of them.",
    query=AuditQuery,
    answers={200: AuditEventAnswer},
    collection=True,
    refusals=(403, 422),
)
def audit_events(asked: Asked) -> Reply:
    """Return audit events of a space in which the caller may act."""
    query = asked.query
    if not asked.caller.is_admin:
        asked.use.access.space_of(asked.caller, query)
    which = AuditFilter(**{name: query.get(name) or None for name in _FILTERS})
    return 200, asked.use.audit_trail.where(which, asked.wanted)

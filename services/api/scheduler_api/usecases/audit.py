"""Writing down who did what, in the transaction that does it."""

from typing import Any

from sqlalchemy import Connection

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.calls import Call
from scheduler.domain.executions import Execution
from scheduler.domain.jobs import Job
from scheduler.domain.schedules import Schedule
from scheduler.store.audit_events import Deed, record


def audit(
    connection: Connection, caller: Caller, verb: str, target: Job | Call | Schedule | Execution, **data: Any
) -> None:
    """Record that the caller did this to the target; `data` must not hold secrets."""
    noun = noun_of(target)
    deed = Deed(
        action=f"{noun}.{verb}",
        actor_guid=caller.user_guid,
        actor_name=caller.user_name,
        target_type=noun,
        target_guid=str(target.guid),
        space_guid=target.space_guid,
        data=data,
    )
    record(connection, deed)


def noun_of(target: Job | Call | Schedule | Execution) -> str:
    """Return what we call it."""
    return type(target).__name__.lower()

"""Valid values of the domain, of which a test names only what it is about."""

from datetime import UTC, datetime
from typing import Any

from scheduler.domain.calls import Call, Request
from scheduler.domain.claims import Claimed
from scheduler.domain.executions import Execution
from scheduler.domain.guids import new_guid
from scheduler.domain.jobs import Job
from scheduler.domain.schedules import Definition, Progress, Schedule
from scheduler.domain.states import ExecutionState, RefType, Trigger

LONG_AGO = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
APP = "11111111-aaaa-4bbb-8ccc-000000000001"
SPACE = "22222222-aaaa-4bbb-8ccc-000000000002"


def make_job(**fields: Any) -> Job:
    """Return a job."""
    guid = fields.pop("guid", None) or new_guid()
    times = {"created_at": LONG_AGO, "updated_at": LONG_AGO}
    base = {"name": f"job-{guid}", "command": "true", "app_guid": APP, "space_guid": SPACE}
    return Job(**{"guid": guid, **base, **times, **fields})


def make_call(**fields: Any) -> Call:
    """Return a call."""
    guid = fields.pop("guid", None) or new_guid()
    request = Request(url="https://example.com/run", auth_header="basic c2VjcmV0")
    base = {"name": f"call-{guid}", "request": request, "app_guid": APP, "space_guid": SPACE}
    return Call(**{"guid": guid, **base, "created_at": LONG_AGO, "updated_at": LONG_AGO, **fields})


def make_schedule(work: Job | Call | None = None, **fields: Any) -> Schedule:
    """Return a schedule of `work`, or of a job not stored; fields of its definition and progress go in directly."""
    progress = {name: fields.pop(name) for name in Progress.__slots__ if name in fields}
    definition = {name: fields.pop(name) for name in Definition.__slots__ if name in fields}
    base = {
        "guid": new_guid(),
        "ref_type": RefType.CALL if isinstance(work, Call) else RefType.JOB,
        "ref_guid": work.guid if work else new_guid(),
        "space_guid": work.space_guid if work else SPACE,
        "definition": Definition(**{"expression": "0 2 * * *", **definition}),
        "progress": Progress(**{"cursor_at": datetime.now(UTC), **progress}),
    }
    return Schedule(**{**base, "created_at": LONG_AGO, "updated_at": LONG_AGO, **fields})


def make_execution(schedule: Schedule | None = None, **fields: Any) -> Execution:
    """Return a PENDING execution of `schedule`, or a manual one."""
    base: dict[str, Any] = {
        "guid": new_guid(),
        "ref_type": schedule.ref_type if schedule else RefType.JOB,
        "ref_guid": schedule.ref_guid if schedule else new_guid(),
        "space_guid": schedule.space_guid if schedule else SPACE,
        "schedule_guid": schedule.guid if schedule else None,
        "trigger": Trigger.SCHEDULE if schedule else Trigger.MANUAL,
        "state": ExecutionState.PENDING,
        "created_at": LONG_AGO,
    }
    return Execution(**{**base, **fields})


def make_claimed(work: Job | Call | None = None, **fields: Any) -> Claimed:
    """Return an execution of `work` that this runner has just claimed."""
    now = datetime.now(UTC)
    base: dict[str, Any] = {
        "guid": new_guid(),
        "claim_token": new_guid(),
        "schedule_guid": None,
        "scheduled_time": None,
        "created_at": now,
        "started_at": now,
        "first_started_at": now,
        "start_by": None,
        "attempt": 1,
        "look_up_first": False,
        "serial": False,
        "previous_execution_guid": None,
        "work": work,
    }
    return Claimed(**{**base, **fields})

"""A schedule in this transaction's hands: nobody else plans or changes it meanwhile, tickers included."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection

from scheduler.domain.planning import Live, Plan
from scheduler.domain.schedules import Schedule
from scheduler.store.bells import RELAY, ring
from scheduler.store.database import now_of
from scheduler.store.due import read_live, write_plans
from scheduler.store.schedules import lock_schedule
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.works import Work


@dataclass(frozen=True, slots=True)
class Locked:
    """A locked schedule, what of it is live, and an instant beyond which nobody has planned it."""

    schedule: Schedule
    live: Live
    now: datetime


def lock_of(connection: Connection, work: Work, guid: UUID) -> Locked:
    """Lock one schedule of the job or call.

    Raises AbsentError, also when it belongs to another one.
    """
    schedule = lock_schedule(connection, guid)
    if schedule is None or schedule.ref_guid != work.guid:
        raise AbsentError("schedule")
    return locked(connection, schedule)


def locked(connection: Connection, schedule: Schedule) -> Locked:
    """Return a schedule that this transaction has locked, with all that its policies ask for."""
    live = read_live(connection, [schedule]).get(schedule.guid, Live())
    return Locked(schedule, live, now_of(connection))


def write_plan(connection: Connection, schedule: Schedule, plan: Plan) -> None:
    """Write a plan; its rows carry the definition under which the schedule is stored at this moment."""
    if write_plans(connection, [(schedule, plan)]):
        ring(connection, RELAY)

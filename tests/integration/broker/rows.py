"""What is stored, for tests to set up and to look at."""

from typing import Any
from uuid import UUID

from sqlalchemy import Engine, select

from scheduler.domain.calls import Call
from scheduler.domain.jobs import Job
from scheduler.domain.schedules import Progress, Schedule
from scheduler.store.calls import insert_call
from scheduler.store.jobs import insert_job
from scheduler.store.schedules import get_schedule, insert_schedule
from scheduler.store.sealing import Seal
from scheduler.store.tables import service_bindings, service_instances


def store(engine: Engine, *things: Job | Call | Schedule) -> None:
    """Store jobs, calls and schedules."""
    with engine.begin() as connection:
        for thing in things:
            if isinstance(thing, Job):
                insert_job(connection, thing)
            elif isinstance(thing, Call):
                insert_call(connection, thing, Seal())
            else:
                insert_schedule(connection, thing)


def progress_of(engine: Engine, schedule: Schedule | UUID) -> Progress:
    """Return how a schedule stands."""
    guid = schedule.guid if isinstance(schedule, Schedule) else schedule
    with engine.begin() as connection:
        found = get_schedule(connection, guid)
    assert found is not None
    return found.progress


def state(engine: Engine) -> list[list[dict[str, Any]]]:
    """Return all service instances and all bindings."""
    with engine.connect() as connection:
        return [
            [dict(row._mapping) for row in connection.execute(select(table).order_by(table.c.guid))]
            for table in (service_instances, service_bindings)
        ]


def instances(engine: Engine) -> list[str]:
    """Return the GUIDs of all service instances."""
    return [row["guid"] for row in state(engine)[0]]


def bindings(engine: Engine) -> list[str]:
    """Return the GUIDs of all bindings and keys."""
    return [row["guid"] for row in state(engine)[1]]

"""Schedules one by one: stored, read, changed, deleted. The ticker's batches are in `due.py`."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection, delete, func, insert, select, update

from scheduler.domain.schedules import Progress, Schedule
from scheduler.domain.states import RefType
from scheduler.store.bells import TICK, ring
from scheduler.store.schedule_rows import definition_columns, progress_columns, schedule_from
from scheduler.store.tables import schedules


def insert_schedule(connection: Connection, schedule: Schedule) -> None:
    """Store a new schedule."""
    connection.execute(insert(schedules).values(**_columns(schedule)))
    ring(connection, TICK)


def get_schedule(connection: Connection, guid: UUID) -> Schedule | None:
    """Return one schedule, whoever owns it."""
    row = connection.execute(select(schedules).where(schedules.c.guid == guid)).one_or_none()
    return schedule_from(row) if row else None


def lock_schedule(connection: Connection, guid: UUID) -> Schedule | None:
    """Return one schedule, kept from everybody else, tickers included, until the transaction ends."""
    row = connection.execute(select(schedules).where(schedules.c.guid == guid).with_for_update()).one_or_none()
    return schedule_from(row) if row else None


def schedules_of(
    connection: Connection, ref_type: RefType, ref_guid: UUID, *, limit: int, offset: int = 0
) -> Sequence[Schedule]:
    """Return the schedules of one job or call, oldest first."""
    query = (
        select(schedules)
        .where(schedules.c.ref_guid == ref_guid, schedules.c.ref_type == ref_type)
        .order_by(schedules.c.created_at, schedules.c.guid)
    )
    return [schedule_from(row) for row in connection.execute(query.limit(limit).offset(offset))]


def count_schedules_of(connection: Connection, ref_type: RefType, ref_guid: UUID) -> int:
    """Return how many schedules a job or call has."""
    query = select(func.count()).select_from(schedules)
    query = query.where(schedules.c.ref_guid == ref_guid, schedules.c.ref_type == ref_type)
    return int(connection.execute(query).scalar_one())


def lock_schedules_of(connection: Connection, ref_type: RefType, ref_guid: UUID) -> Sequence[Schedule]:
    """Return all schedules of one job or call, kept from everybody else, tickers included."""
    query = select(schedules).where(schedules.c.ref_guid == ref_guid, schedules.c.ref_type == ref_type)
    return [schedule_from(row) for row in connection.execute(query.order_by(schedules.c.guid).with_for_update())]


def save_schedule(connection: Connection, schedule: Schedule, *, now: datetime) -> None:
    """Write a changed definition, progress and metadata; for a schedule that this transaction has locked."""
    values = {**_columns(schedule), "updated_at": now}
    connection.execute(update(schedules).where(schedules.c.guid == schedule.guid).values(**values))
    ring(connection, TICK)


def save_progress(connection: Connection, guid: UUID, progress: Progress) -> None:
    """Write a changed progress; for a schedule that this transaction has locked."""
    connection.execute(update(schedules).where(schedules.c.guid == guid).values(**progress_columns(progress)))
    ring(connection, TICK)


def delete_schedules(connection: Connection, guids: Sequence[UUID]) -> int:
    """Delete schedules and return how many there were; their history stays."""
    return connection.execute(delete(schedules).where(schedules.c.guid.in_(guids))).rowcount


def _columns(schedule: Schedule) -> dict[str, object]:
    return {
        "guid": schedule.guid,
        "ref_type": schedule.ref_type,
        "ref_guid": schedule.ref_guid,
        "space_guid": schedule.space_guid,
        "metadata": dict(schedule.metadata),
        "definition_version": schedule.definition_version,
        "created_at": schedule.created_at,
        "updated_at": schedule.updated_at,
        **definition_columns(schedule.definition),
        **progress_columns(schedule.progress),
    }

"""Jobs: stored, read, changed, deleted."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, func, insert, select, update

from scheduler.domain.jobs import Job
from scheduler.store.tables import jobs


def job_from(row: Any) -> Job:
    """Return the job that a row of the table holds."""
    return Job(
        guid=row.guid,
        name=row.name,
        command=row.command,
        disk_in_mb=row.disk_in_mb,
        memory_in_mb=row.memory_in_mb,
        log_rate_in_bps=row.log_rate_in_bps,
        state=row.state,
        pass_context=row.pass_context,
        app_guid=row.app_guid,
        space_guid=row.space_guid,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def insert_job(connection: Connection, job: Job) -> None:
    """Store a new job.

    Raises sqlalchemy.exc.IntegrityError when the app has a job of that name.
    """
    connection.execute(insert(jobs).values(**{name: getattr(job, name) for name in Job.__slots__}))


def get_job(connection: Connection, guid: UUID) -> Job | None:
    """Return one job."""
    row = connection.execute(select(jobs).where(jobs.c.guid == guid)).one_or_none()
    return job_from(row) if row else None


def lock_job(connection: Connection, guid: UUID) -> Job | None:
    """Return one job, kept from other changes until the transaction ends."""
    row = connection.execute(select(jobs).where(jobs.c.guid == guid).with_for_update(key_share=True)).one_or_none()
    return job_from(row) if row else None


def save_job(connection: Connection, job: Job, *, now: datetime) -> bool:
    """Write a changed job; return false when it is gone.

    Raises sqlalchemy.exc.IntegrityError when the app has another job of that name.
    """
    values = {name: getattr(job, name) for name in Job.__slots__} | {"updated_at": now}
    return connection.execute(update(jobs).where(jobs.c.guid == job.guid).values(**values)).rowcount == 1


def jobs_of_space(connection: Connection, space_guid: str, *, limit: int, offset: int = 0) -> Sequence[Job]:
    """Return a space's jobs by name."""
    query = select(jobs).where(jobs.c.space_guid == space_guid).order_by(jobs.c.name, jobs.c.guid)
    return [job_from(row) for row in connection.execute(query.limit(limit).offset(offset))]


def count_jobs(connection: Connection, space_guid: str) -> int:
    """Return how many jobs a space has."""
    query = select(func.count()).select_from(jobs).where(jobs.c.space_guid == space_guid)
    return int(connection.execute(query).scalar_one())


def delete_job(connection: Connection, guid: UUID) -> bool:
    """Delete the row of a job and nothing else; return whether there was one."""
    return connection.execute(delete(jobs).where(jobs.c.guid == guid)).rowcount == 1

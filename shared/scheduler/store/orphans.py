"""What is left without an owner: jobs and calls whose app is gone, schedules whose job or call is gone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, text

from scheduler.domain.schedules import Schedule
from scheduler.domain.states import RefType
from scheduler.store.schedule_rows import schedule_from

_APPS = text("SELECT app_guid FROM jobs UNION SELECT app_guid FROM calls")

# The order is that of bytes, whatever the database's collation is.
_WORK = """
    SELECT * FROM (
        SELECT 'job' AS ref_type, guid, name, app_guid, space_guid FROM jobs WHERE {which}
        UNION ALL
        SELECT 'call' AS ref_type, guid, name, app_guid, space_guid FROM calls WHERE {which}
    ) AS work
    ORDER BY space_guid COLLATE "C", app_guid COLLATE "C", ref_type COLLATE "C", name COLLATE "C", guid
"""
_WORK_OF_APPS = text(_WORK.format(which="app_guid = ANY(CAST(:app_guids AS text[]))"))
_WORK_BY_GUID = text(_WORK.format(which="guid = ANY(CAST(:guids AS uuid[]))"))

_SCHEDULES = text("""
    SELECT * FROM schedules WHERE ref_guid = ANY(CAST(:ref_guids AS uuid[])) ORDER BY created_at, guid
""")

_ORPHANS = text("""
    SELECT s.* FROM schedules s
    WHERE NOT CASE s.ref_type
        WHEN 'job' THEN EXISTS (SELECT FROM jobs WHERE jobs.guid = s.ref_guid)
        ELSE EXISTS (SELECT FROM calls WHERE calls.guid = s.ref_guid) END
    ORDER BY s.ref_type COLLATE "C", s.ref_guid, s.guid
""")


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A job or call, as far as it matters whose it is."""

    guid: UUID
    ref_type: RefType
    name: str
    app_guid: str
    space_guid: str


def apps_with_work(connection: Connection) -> Sequence[str]:
    """Return each app that has a job or a call."""
    return connection.execute(_APPS).scalars().all()


def work_of_apps(connection: Connection, app_guids: Sequence[str]) -> Sequence[Work]:
    """Return the apps' jobs and calls, sorted by space, app, type and name."""
    return [_work(row) for row in connection.execute(_WORK_OF_APPS, {"app_guids": list(app_guids)})]


def work_by_guid(connection: Connection, guids: Sequence[UUID]) -> Mapping[UUID, Work]:
    """Return those of the GUIDs that name a job or call."""
    rows = connection.execute(_WORK_BY_GUID, {"guids": [str(guid) for guid in guids]})
    return {row.guid: _work(row) for row in rows}


def schedules_by_ref(connection: Connection, ref_guids: Sequence[UUID]) -> Mapping[UUID, Sequence[Schedule]]:
    """Return the schedules of each of these jobs and calls that has any, oldest first."""
    found: dict[UUID, list[Schedule]] = {}
    for row in connection.execute(_SCHEDULES, {"ref_guids": [str(guid) for guid in ref_guids]}):
        found.setdefault(row.ref_guid, []).append(schedule_from(row))
    return found


def orphan_schedules(connection: Connection) -> Sequence[Schedule]:
    """Return the schedules whose job or call is not stored, sorted by type and GUID of that, then their own GUID."""
    return [schedule_from(row) for row in connection.execute(_ORPHANS)]


def _work(row: Any) -> Work:
    return Work(
        guid=row.guid,
        ref_type=RefType(row.ref_type),
        name=row.name,
        app_guid=row.app_guid,
        space_guid=row.space_guid,
    )

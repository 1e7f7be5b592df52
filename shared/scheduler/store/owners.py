"""Jobs and calls as a configuration file names them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, select

from scheduler.domain.states import RefType
from scheduler.store.tables import calls, jobs

_TABLES = {RefType.JOB: jobs, RefType.CALL: calls}


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnerQuery:
    """A job or call, by its guid, or by its name in an app or in a space."""

    kind: RefType
    guid: UUID | None = None
    name: str | None = None
    app_guid: str | None = None
    space_guid: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """The job or call that was found."""

    guid: UUID
    space_guid: str


def find_owners(connection: Connection, query: OwnerQuery) -> Sequence[Owner]:
    """Return the jobs or calls that fit, kept from being deleted until the transaction ends."""
    table = _TABLES[query.kind]
    wanted = {name: getattr(query, name) for name in ("guid", "name", "app_guid", "space_guid")}
    conditions = [table.c[name] == value for name, value in wanted.items() if value is not None]
    rows = connection.execute(
        select(table.c.guid, table.c.space_guid).where(*conditions).with_for_update(read=True, key_share=True)
    )
    return [Owner(guid=row.guid, space_guid=row.space_guid) for row in rows]

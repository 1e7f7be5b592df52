"""Calls: stored, read, changed, deleted. `auth_header` and headers stay sealed until somebody sends them."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, insert, select, update

from scheduler.domain.calls import Call, Request, Retry
from scheduler.store.sealing import Seal
from scheduler.store.tables import calls

_PLAIN = Seal()


def call_from(row: Any, seal: Seal = _PLAIN) -> Call:
    """Return the call that a row of the table holds; without the right `seal` its secrets stay closed."""
    return Call(
        guid=row.guid,
        name=row.name,
        request=_request(row, seal),
        app_guid=row.app_guid,
        space_guid=row.space_guid,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _request(row: Any, seal: Seal) -> Request:
    return Request(
        url=row.url,
        auth_header=seal.open(row.auth_header),
        method=row.method,
        headers=json.loads(seal.open(row.headers)),
        body=row.body,
        connect_timeout_seconds=row.connect_timeout_seconds,
        timeout_seconds=row.timeout_seconds,
        success_statuses=tuple(row.success_statuses),
        follow_redirects=row.follow_redirects,
        retry=Retry(**{**row.retry, "retry_on": tuple(row.retry["retry_on"])}),
    )


def insert_call(connection: Connection, call: Call, seal: Seal) -> None:
    """Store a new call.

    Raises sqlalchemy.exc.IntegrityError when the app has a call of that name.
    """
    connection.execute(insert(calls).values(**_columns(call, seal)))


def get_call(connection: Connection, guid: UUID, seal: Seal) -> Call | None:
    """Return one call."""
    row = connection.execute(select(calls).where(calls.c.guid == guid)).one_or_none()
    return call_from(row, seal) if row else None


def save_call(connection: Connection, call: Call, seal: Seal, *, now: datetime) -> bool:
    """Write a changed call; return false when it is gone.

    Raises sqlalchemy.exc.IntegrityError when the app has another call of that name.
    """
    values = _columns(call, seal) | {"updated_at": now}
    return connection.execute(update(calls).where(calls.c.guid == call.guid).values(**values)).rowcount == 1


def calls_of_space(
    connection: Connection, space_guid: str, seal: Seal, *, limit: int, offset: int = 0
) -> Sequence[Call]:
    """Return a space's calls by name."""
    query = select(calls).where(calls.c.space_guid == space_guid).order_by(calls.c.name, calls.c.guid)
    return [call_from(row, seal) for row in connection.execute(query.limit(limit).offset(offset))]


def delete_call(connection: Connection, guid: UUID) -> bool:
    """Delete the row of a call and nothing else; return whether there was one."""
    return connection.execute(delete(calls).where(calls.c.guid == guid)).rowcount == 1


def _columns(call: Call, seal: Seal) -> dict[str, object]:
    request = call.request
    return {
        "guid": call.guid,
        "name": call.name,
        "url": request.url,
        "auth_header": seal.close(request.auth_header),
        "method": request.method,
        "headers": seal.close(json.dumps(dict(request.headers))),
        "body": request.body,
        "connect_timeout_seconds": request.connect_timeout_seconds,
        "timeout_seconds": request.timeout_seconds,
        "success_statuses": list(request.success_statuses),
        "follow_redirects": request.follow_redirects,
        "retry": {name: getattr(request.retry, name) for name in Retry.__slots__},
        "app_guid": call.app_guid,
        "space_guid": call.space_guid,
        "created_at": call.created_at,
        "updated_at": call.updated_at,
    }

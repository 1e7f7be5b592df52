"""Calls: stored, read, changed, deleted. `auth_header` stays sealed until a runner sends it."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, delete, func, insert, select, update

from scheduler.domain.calls import Call, Request, Retry
from scheduler.store.sealing import Seal
from scheduler.store.tables import calls

_NO_HEADERS = "{}"


def call_from(row: Any, seal: Seal) -> Call:
    """Return the call that a row of the table holds, secrets included.

    Raises CannotUnsealError.
    """
    return _call(row, seal, auth_header=seal.open(row.auth_header))


def _shown_call(row: Any, seal: Seal) -> Call:
    """Return the call without its auth_header, for whoever shows it."""
    return _call(row, seal, auth_header="")


def _call(row: Any, seal: Seal, *, auth_header: str) -> Call:
    return Call(
        guid=row.guid,
        name=row.name,
        request=_request(row, seal, auth_header),
        app_guid=row.app_guid,
        space_guid=row.space_guid,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _request(row: Any, seal: Seal, auth_header: str) -> Request:
    return Request(
        url=row.url,
        auth_header=auth_header,
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


def show_call(connection: Connection, guid: UUID, seal: Seal) -> Call | None:
    """Return one call, its auth_header left out."""
    row = connection.execute(select(calls).where(calls.c.guid == guid)).one_or_none()
    return _shown_call(row, seal) if row else None


def lock_call(connection: Connection, guid: UUID, seal: Seal) -> Call | None:
    """Return one call, secrets included, kept from other changes until the transaction ends."""
    row = connection.execute(select(calls).where(calls.c.guid == guid).with_for_update(key_share=True)).one_or_none()
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
    """Return a space's calls by name, their auth_headers left out."""
    query = select(calls).where(calls.c.space_guid == space_guid).order_by(calls.c.name, calls.c.guid)
    return [_shown_call(row, seal) for row in connection.execute(query.limit(limit).offset(offset))]


def count_calls(connection: Connection, space_guid: str) -> int:
    """Return how many calls a space has."""
    query = select(func.count()).select_from(calls).where(calls.c.space_guid == space_guid)
    return int(connection.execute(query).scalar_one())


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
        "headers": seal.close(json.dumps(dict(request.headers))) if request.headers else _NO_HEADERS,
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

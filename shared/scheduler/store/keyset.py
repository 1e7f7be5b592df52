"""Pages of rows whose guids are ordered by time of creation: newest first, each page found by the guid at its edge.

The cost of a page does not depend on how many rows lie before it; asked for by its distance (`offset`), it is found by
the index alone. Each index that serves pages begins with the column that says whose rows they are (`Lead`). That column
is bounded on both sides instead of being compared with `=`, and is part of the order: otherwise PostgreSQL would leave
it out and might walk all newer rows of all others, over the primary key.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Select, tuple_
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from scheduler.domain.guids import first_guid_at

# Guids are made by many machines' clocks, `created_at` by the database's.
_CLOCK_MARGIN = timedelta(minutes=10)

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Lead:
    """Whose rows: the first column of the index, and its value."""

    column: ColumnElement[Any]
    value: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Keyset:
    """Up to `limit` rows: those next to `before` or `after`, or `offset` rows from the newest."""

    limit: int
    before: UUID | None = None
    after: UUID | None = None
    offset: int = 0

    @property
    def backwards(self) -> bool:
        """Tell whether the rows nearest to the edge come first, which is oldest first."""
        return self.after is not None

    def applied_to(self, query: Select[Any], guid: ColumnElement[Any], lead: Lead | None) -> Select[Any]:
        """Return the query with edge, order and limit."""
        query = query.where(*self._edges(guid, lead))
        columns = [guid] if lead is None else [lead.column, guid]
        query = query.order_by(*(column.asc() if self.backwards else column.desc() for column in columns))
        if self.offset:
            edge = query.with_only_columns(guid).offset(self.offset).limit(1).scalar_subquery()
            query = query.where(guid <= edge)
        return query.limit(self.limit)

    def _edges(self, guid: ColumnElement[Any], lead: Lead | None) -> list[ColumnElement[bool]]:
        if lead is None:
            return [*([guid < self.before] if self.before else []), *([guid > self.after] if self.after else [])]
        column, value = lead.column, lead.value
        place = tuple_(column, guid)
        return [
            place < tuple_(value, self.before) if self.before else column <= value,
            place > tuple_(value, self.after) if self.after else column >= value,
        ]


def in_order(rows: Sequence[Row], keyset: Keyset) -> Sequence[Row]:
    """Return rows as they are shown: newest first."""
    return list(reversed(rows)) if keyset.backwards else rows


def created_between(
    columns: ReadOnlyColumnCollection[str, Any], since: datetime | None, until: datetime | None
) -> list[ColumnElement[bool]]:
    """Return conditions for `since <= created_at < until`, such that the index over guids bounds the search too."""
    conditions = []
    if since is not None:
        conditions += [columns.created_at >= since, columns.guid >= first_guid_at(since - _CLOCK_MARGIN)]
    if until is not None:
        conditions += [columns.created_at < until, columns.guid < first_guid_at(until + _CLOCK_MARGIN)]
    return conditions

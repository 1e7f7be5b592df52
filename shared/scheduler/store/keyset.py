"""Pages of rows whose guids are ordered by time of creation: newest first, each page found by the guid at its edge.

The cost of a page does not depend on how many rows lie before it, unless it is asked for by its distance (`offset`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import ColumnElement, Select
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from scheduler.domain.guids import first_guid_at

# Guids are made by many machines' clocks, `created_at` by the database's.
_CLOCK_MARGIN = timedelta(minutes=10)

Row = TypeVar("Row")


@dataclass(frozen=True, kw_only=True, slots=True)
class Keyset:
    """Up to `limit` rows: those next to `before` or `after`, or `offset` rows from the newest."""

    limit: int
    before: UUID | None = None
    after: UUID | None = None
    offset: int = 0

    def applied_to(self, query: Select[Any], guid: ColumnElement[Any]) -> Select[Any]:
        """Return the query with order, edge and limit."""
        if self.before is not None:
            query = query.where(guid < self.before)
        if self.after is not None:
            query = query.where(guid > self.after)
        order = guid.asc() if self.backwards else guid.desc()
        return query.order_by(order).limit(self.limit).offset(self.offset or None)

    @property
    def backwards(self) -> bool:
        """Tell whether the rows nearest to the edge come first, which is oldest first."""
        return self.after is not None


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

"""What ran and what did not: the executions of a job, a call or a schedule, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, func, literal_column, select

from scheduler.domain.executions import Execution
from scheduler.domain.states import ExecutionState, Trigger
from scheduler.store.executions import execution_from
from scheduler.store.keyset import Keyset, created_between, in_order
from scheduler.store.tables import executions


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryFilter:
    """Whose executions, and which of them; what is None or empty does not matter. `since` and `until`: creation."""

    ref_guid: UUID
    schedule_guid: UUID | None = None
    states: tuple[ExecutionState, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


def history(connection: Connection, wanted: HistoryFilter, keyset: Keyset) -> Sequence[Execution]:
    """Return one page of executions."""
    rows = connection.execute(keyset.applied_to(_filtered(select(executions), wanted), executions.c.guid)).all()
    return [execution_from(row) for row in in_order(rows, keyset)]


def count_history(connection: Connection, wanted: HistoryFilter, *, at_most: int) -> int:
    """Count executions, but no further than `at_most`: counting a million takes longer than showing a page of them."""
    counted = _filtered(select(literal_column("1")).select_from(executions), wanted).limit(at_most).subquery()
    return int(connection.execute(select(func.count()).select_from(counted)).scalar_one())


def row_about(connection: Connection, schedule_guid: UUID, instant: datetime) -> Execution | None:
    """Return the row that records what became of a due instant: its own, or one that covers it.

    Each instant is in one row at most, and a covering row's scheduled_time is the last instant that it covers.
    """
    columns = executions.c
    query = (
        select(executions)
        .where(columns.schedule_guid == schedule_guid, columns.scheduled_time >= instant)
        .order_by(columns.scheduled_time)
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    if row is None or (row.scheduled_time != instant and (row.covers_from is None or row.covers_from > instant)):
        return None
    return execution_from(row)


def _filtered(query: Select[Any], wanted: HistoryFilter) -> Select[Any]:
    columns = executions.c
    query = query.where(*created_between(columns, wanted.since, wanted.until))
    if wanted.schedule_guid is None:
        query = query.where(columns.ref_guid == wanted.ref_guid)
    else:
        query = query.where(columns.schedule_guid == wanted.schedule_guid)
    if wanted.states:
        query = query.where(columns.state.in_(wanted.states))
    if wanted.triggers:
        query = query.where(columns.trigger.in_(wanted.triggers))
    return query

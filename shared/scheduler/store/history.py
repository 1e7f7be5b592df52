"""What ran and what did not: the executions of a job, a call or a schedule, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, func, literal_column, select, union_all

from scheduler.domain.executions import Execution
from scheduler.domain.states import ExecutionState, Trigger
from scheduler.store.executions import execution_from
from scheduler.store.keyset import Keyset, Lead, created_between, in_order
from scheduler.store.tables import executions

# Each of these has an index of its own, over the guid of the job or call.
_RARE_STATES = frozenset(ExecutionState) - {ExecutionState.SUCCEEDED}
_columns = executions.c


@dataclass(frozen=True, kw_only=True, slots=True)
class HistoryFilter:
    """Whose executions, and which of them; what is None or empty does not matter. `since` and `until`: creation."""

    ref_guid: UUID
    schedule_guid: UUID | None = None
    states: tuple[ExecutionState, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    @property
    def asks_for_rare_ones(self) -> bool:
        """Tell whether an index leads to these rows without looking at the others of the job or call."""
        is_rare = bool(self.states) and _RARE_STATES.issuperset(self.states)
        return is_rare or (bool(self.triggers) and Trigger.SCHEDULE not in self.triggers)

    def by_state(self) -> list["HistoryFilter"]:
        """Return one filter for each state; an index knows one state only."""
        return [replace(self, states=(state,)) for state in self.states] or [self]


def history(connection: Connection, wanted: HistoryFilter, keyset: Keyset) -> Sequence[Execution]:
    """Return one page of executions."""
    if len(wanted.states) < 2 or keyset.offset:
        rows = connection.execute(_page(wanted, keyset)).all()
    else:
        merged = union_all(*(_page(part, keyset) for part in wanted.by_state())).subquery()
        order = merged.c.guid.asc() if keyset.backwards else merged.c.guid.desc()
        rows = connection.execute(select(merged).order_by(order).limit(keyset.limit)).all()
    return [execution_from(row) for row in in_order(rows, keyset)]


def count_history(connection: Connection, wanted: HistoryFilter, *, at_most: int) -> int:
    """Count executions, but no further than `at_most`: counting a million takes longer than showing a page of them."""
    parts = [_some(part, at_most) for part in wanted.by_state()]
    some = (union_all(*parts) if len(parts) > 1 else parts[0]).subquery()
    return min(at_most, int(connection.execute(select(func.count()).select_from(some)).scalar_one()))


def row_about(connection: Connection, schedule_guid: UUID, instant: datetime) -> Execution | None:
    """Return the row that records what became of a due instant: its own, or one that covers it.

    Each instant is in one row at most, and a covering row's scheduled_time is the last instant that it covers.
    """
    query = (
        select(executions)
        .where(_columns.schedule_guid == schedule_guid, _columns.scheduled_time >= instant)
        .order_by(_columns.scheduled_time)
        .limit(1)
    )
    row = connection.execute(query).one_or_none()
    if row is None or (row.scheduled_time != instant and (row.covers_from is None or row.covers_from > instant)):
        return None
    return execution_from(row)


def _some(wanted: HistoryFilter, at_most: int) -> Select[Any]:
    lead = _lead(wanted)
    ones: Select[Any] = select(literal_column("1")).select_from(executions)
    return _filtered(ones, wanted).where(lead.column == lead.value).limit(at_most)


def _page(wanted: HistoryFilter, keyset: Keyset) -> Select[Any]:
    return keyset.applied_to(_filtered(select(executions), wanted), _columns.guid, _lead(wanted))


def _lead(wanted: HistoryFilter) -> Lead:
    if wanted.schedule_guid is None or wanted.asks_for_rare_ones:
        return Lead(_columns.ref_guid, wanted.ref_guid)
    return Lead(_columns.schedule_guid, wanted.schedule_guid)


def _filtered(query: Select[Any], wanted: HistoryFilter) -> Select[Any]:
    query = query.where(*created_between(_columns, wanted.since, wanted.until))
    if wanted.schedule_guid is not None and wanted.asks_for_rare_ones:
        query = query.where(_columns.schedule_guid == wanted.schedule_guid)
    if wanted.states:
        query = query.where(_columns.state.in_(wanted.states))
    if wanted.triggers:
        query = query.where(_columns.trigger.in_(wanted.triggers))
    return query

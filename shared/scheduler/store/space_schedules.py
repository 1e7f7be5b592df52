"""All schedules of a space, those that run next first, with the names of what they run."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from scheduler.domain.schedules import Schedule
from scheduler.domain.states import RefType, ScheduleState
from scheduler.store.schedule_rows import schedule_from
from scheduler.store.tables import calls, jobs, schedules

_AT_REST = (ScheduleState.FINISHED, ScheduleState.NEEDS_REVIEW)


@dataclass(frozen=True, kw_only=True, slots=True)
class SpaceFilter:
    """Which schedules; what is None or empty does not matter."""

    space_guid: str
    state: ScheduleState | None = None
    enabled: bool | None = None
    words: str = ""  # part of the expression, or of the job's or call's name, in any case


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A schedule and the name of its job or call, None when that is gone."""

    schedule: Schedule
    ref_name: str | None


def schedules_of_space(connection: Connection, wanted: SpaceFilter, *, limit: int, offset: int) -> Sequence[Named]:
    """Return schedules by their next instant; those without one come last."""
    query = _filtered(select(schedules, _NAME.label("ref_name")), wanted)
    query = query.order_by(schedules.c.next_fire_at, schedules.c.guid).limit(limit).offset(offset)
    return [Named(schedule=schedule_from(row), ref_name=row.ref_name) for row in connection.execute(query)]


def count_schedules_of_space(connection: Connection, wanted: SpaceFilter) -> int:
    """Return how many there are."""
    return int(connection.execute(_filtered(select(func.count()), wanted)).scalar_one())


_NAME: ColumnElement[Any] = func.coalesce(jobs.c.name, calls.c.name)
_SOURCE = schedules.outerjoin(
    jobs, and_(schedules.c.ref_type == RefType.JOB, jobs.c.guid == schedules.c.ref_guid)
).outerjoin(calls, and_(schedules.c.ref_type == RefType.CALL, calls.c.guid == schedules.c.ref_guid))


def _filtered(query: Select[Any], wanted: SpaceFilter) -> Select[Any]:
    columns = schedules.c
    query = query.select_from(_SOURCE).where(columns.space_guid == wanted.space_guid)
    if wanted.state is not None:
        query = query.where(_has_state(wanted.state))
    if wanted.enabled is not None:
        query = query.where(columns.enabled == wanted.enabled)
    if wanted.words:
        found = [column.icontains(wanted.words, autoescape=True) for column in (columns.expression, _NAME)]
        query = query.where(or_(*found))
    return query


def _has_state(state: ScheduleState) -> ColumnElement[bool]:
    """Return the condition for a state as it is shown: rest before pause before activity."""
    columns = schedules.c
    if state in _AT_REST:
        return columns.state == state
    return and_(columns.enabled == (state is ScheduleState.ACTIVE), columns.state.not_in(_AT_REST))

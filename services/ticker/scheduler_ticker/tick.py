"""Tick: due schedules become executions, one transaction per batch.

Two columns keep planning and waking apart: `cursor_at` (every instant up to here is dealt with) and `next_fire_at`
(when to look again). A ticker that dies in a batch has changed nothing; another one takes the batch at once.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, Engine

from scheduler.domain.planning import Live, Plan
from scheduler.domain.schedules import Schedule
from scheduler.domain.states import ScheduleState
from scheduler.policies import end_of_parent, plan
from scheduler.store.due import Due, due_spaces, lock_due, read_live, write_plans
from scheduler_ticker import metrics

_log = logging.getLogger(__name__)

MAX_SCHEDULES = 1_000
MAX_ROWS = 2_000
MAX_SPACES = 1_000  # that are looked at for one batch, whether something is due in them or not
_NOTHING_LIVE = Live()


@dataclass(frozen=True, kw_only=True, slots=True)
class Ticked:
    """What one pass did; `more` says that the next one should follow at once."""

    schedules: int = 0
    rows: int = 0
    more: bool = False


class Turns:
    """Whose turn it is: while batches are full, every second one is shared out among all spaces.

    So a space with ten thousand schedules due at one instant does not delay another's single one.
    """

    def __init__(self) -> None:
        self.are_shared = False
        self._after_space = ""

    def spaces(self, connection: Connection) -> list[str] | None:
        """Return whose schedules come next; None: whichever have been due longest."""
        if not self.are_shared:
            return None
        spaces, self._after_space = due_spaces(connection, after=self._after_space, limit=MAX_SPACES)
        return spaces

    def move_on(self, *, more: bool) -> None:
        """Choose the next turn; `more`: whether there is a backlog."""
        self.are_shared = more and not self.are_shared


def tick(
    engine: Engine,
    *,
    default_zone: str,
    limit: int = MAX_SCHEDULES,
    max_rows: int = MAX_ROWS,
    turns: Turns | None = None,
) -> Ticked:
    """Plan one batch of due schedules."""
    turns = turns or Turns()
    try:
        ticked = _tick(engine, turns, default_zone=default_zone, limit=limit, max_rows=max_rows)
    except Exception:
        turns.move_on(more=False)  # whatever is wrong with sharing out must not end planning
        raise
    # Of what is due in some spaces nothing follows about all.
    ticked = replace(ticked, more=ticked.more or turns.are_shared)
    turns.move_on(more=ticked.more)
    return ticked


def _tick(engine: Engine, turns: Turns, *, default_zone: str, limit: int, max_rows: int) -> Ticked:
    with engine.begin() as connection:
        now, due = lock_due(connection, limit=limit, spaces=turns.spaces(connection))
        if now is None:
            return Ticked()
        plans = _plan_all(connection, due, now, default_zone=default_zone, max_rows=max_rows)
        rows = write_plans(connection, plans)
    metrics.PLANNED.inc(len(plans))
    metrics.CREATED.inc(rows)
    return Ticked(schedules=len(plans), rows=rows, more=len(plans) < len(due) or len(due) == limit)


def _plan_all(
    connection: Connection, due: Sequence[Due], now: datetime, *, default_zone: str, max_rows: int
) -> list[tuple[Schedule, Plan]]:
    """Plan until the rows of a transaction are enough; the schedules left over stay due."""
    live = read_live(connection, [each.schedule for each in due])
    plans: list[tuple[Schedule, Plan]] = []
    rows = 0
    for each in due:
        if rows >= max_rows:
            break
        planned = _plan_one(each, live.get(each.schedule.guid, _NOTHING_LIVE), now, default_zone)
        rows += len(planned.rows)
        plans.append((each.schedule, planned))
    return plans


def _plan_one(due: Due, live: Live, now: datetime, default_zone: str) -> Plan:
    schedule = due.schedule
    try:
        return plan(schedule, live, now, default_zone=default_zone) if due.has_parent else end_of_parent(schedule)
    except Exception as error:  # noqa: BLE001 - one schedule that cannot be planned must not stop the others
        _log.exception(
            f"A schedule cannot be planned and needs review: {type(error).__name__}",
            extra={"action": "plan_failed", "schedule_guid": str(schedule.guid)},
        )
        progress = replace(schedule.progress, state=ScheduleState.NEEDS_REVIEW, next_fire_at=None)
        return Plan(rows=(), progress=progress)

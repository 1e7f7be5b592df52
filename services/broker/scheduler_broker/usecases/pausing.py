"""What binding means for an app's schedules: without a binding they pause, with a new one they go on.

Everything here happens in the transaction that changes the binding, under the app's lock.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from sqlalchemy import Connection

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.planning import Live, Plan
from scheduler.domain.schedules import Schedule
from scheduler.domain.states import PausedBy, ScheduleState
from scheduler.policies import rebind, unbind
from scheduler.store.bells import RELAY, TICK, ring
from scheduler.store.bindings import is_bound, lock_schedules_of_app, touch_schedules
from scheduler.store.due import read_live, write_plans
from scheduler_broker.usecases.auditing import Actor, audit_schedule

_log = logging.getLogger(__name__)

_NOTHING_LIVE = Live()

Decide = Callable[[Schedule, Live, datetime], Plan]


class Pausing:
    """Pauses and resumes the schedules of an app that the transaction has locked."""

    def __init__(self, *, default_zone: str) -> None:
        self._unbind: Decide = partial(unbind, default_zone=default_zone)
        self._rebind: Decide = partial(rebind, default_zone=default_zone)

    def pause_unless_bound(self, connection: Connection, app_guid: str, actor: Actor) -> None:
        """Pause the app's enabled schedules if it has no binding left."""
        if is_bound(connection, app_guid):
            return
        now, schedules = lock_schedules_of_app(connection, app_guid)
        # Those that are paused already may have to change as well: no pause ends by itself without a binding.
        self._change(connection, schedules, now, self._unbind)
        paused = [schedule for schedule in schedules if schedule.progress.enabled]
        self._tell(connection, app_guid, paused, now, "pause", actor)

    def resume(self, connection: Connection, app_guid: str, actor: Actor) -> None:
        """Resume those of the app's schedules that an unbind has paused."""
        now, schedules = lock_schedules_of_app(connection, app_guid)
        paused = [schedule for schedule in schedules if schedule.progress.paused_by is PausedBy.UNBIND]
        self._change(connection, paused, now, self._rebind)
        self._tell(connection, app_guid, paused, now, "resume", actor)

    def _tell(
        self,
        connection: Connection,
        app_guid: str,
        schedules: Sequence[Schedule],
        now: datetime,
        verb: str,
        actor: Actor,
    ) -> None:
        touch_schedules(connection, schedules, now=now)
        for schedule in schedules:
            audit_schedule(connection, actor, verb, schedule)
        _log.info(
            f"{len(schedules)} schedules of an app {verb}, since its bindings have changed.",
            extra={"action": f"schedules_{verb}d", "app_guid": app_guid, "schedules": len(schedules)},
        )

    def _change(self, connection: Connection, schedules: Sequence[Schedule], now: datetime, decide: Decide) -> None:
        if not schedules:
            return
        live = read_live(connection, schedules)
        plans = [(each, _plan_one(each, live.get(each.guid, _NOTHING_LIVE), now, decide)) for each in schedules]
        write_plans(connection, [(each, plan) for each, plan in plans if plan != Plan(rows=(), progress=each.progress)])
        ring(connection, TICK)
        ring(connection, RELAY)


def _plan_one(schedule: Schedule, live: Live, now: datetime, decide: Decide) -> Plan:
    try:
        return decide(schedule, live, now)
    except InvalidInputError as error:
        # Only resuming needs a readable expression. One schedule without must not keep the app from being bound.
        _log.warning(
            f"A schedule cannot be resumed and needs review: {error}",
            extra={"action": "resume_failed", "schedule_guid": str(schedule.guid)},
        )
        review = replace(
            schedule.progress, enabled=True, paused_by=None, state=ScheduleState.NEEDS_REVIEW, next_fire_at=None
        )
        return Plan(rows=(), progress=review)

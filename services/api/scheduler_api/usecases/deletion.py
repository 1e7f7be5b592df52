"""Deleting jobs, calls and schedules. What was due until now is recorded first; what is PENDING ends; history stays."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.schedules import Schedule
from scheduler.policies import pause
from scheduler.store.database import Database, UnavailableError
from scheduler.store.deletion import delete_schedules_and_pending, delete_work, schedules_left
from scheduler.store.parents import keep_parent
from scheduler.store.schedules import lock_schedules_of
from scheduler_api.usecases.audit import audit, noun_of
from scheduler_api.usecases.definitions import Rules
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.locking import lock_of, locked, write_plan
from scheduler_api.usecases.works import Work, kind_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Schedules that outlived their job or call: how many, or None when nobody could look."""

    count: int | None = 0


class Deletion:
    """Jobs and calls that the caller may act on, and their schedules."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._zone = rules.default_zone

    def delete_work(self, caller: Caller, work: Work) -> Leftovers:
        """Delete a job or call with its schedules; runs that are under way finish.

        Raises AbsentError when it is gone.
        """
        kind = kind_of(work)
        with self._database.write() as connection:
            if not keep_parent(connection, kind, work.guid):
                raise AbsentError(noun_of(work))
            schedules = lock_schedules_of(connection, kind, work.guid)
            for schedule in schedules:
                self._plan_to_now(connection, schedule)
            delete_work(connection, kind, work.guid)
            audit(connection, caller, "delete", work, name=work.name, schedules=len(schedules))
        return self._look_again(work)

    def delete_schedule(self, caller: Caller, work: Work, guid: UUID) -> None:
        """Delete one schedule of the job or call; raises AbsentError when it has no such schedule."""
        with self._database.write() as connection:
            schedule = lock_of(connection, work, guid).schedule
            self._plan_to_now(connection, schedule)
            delete_schedules_and_pending(connection, [guid])
            audit(connection, caller, "delete", schedule, expression=schedule.definition.expression)

    def _plan_to_now(self, connection: Connection, schedule: Schedule) -> None:
        if schedule.progress.enabled:
            held = locked(connection, schedule)
            write_plan(connection, schedule, pause(schedule, held.live, held.now, default_zone=self._zone))

    def _look_again(self, work: Work) -> Leftovers:
        """Remove what somebody without our locks may have added meanwhile (checklist 143)."""
        left: Sequence[UUID] | None = None
        try:
            with self._database.write() as connection:
                left = schedules_left(connection, kind_of(work), work.guid)
                if left:
                    delete_schedules_and_pending(connection, left)
        except UnavailableError:
            # The job or call is gone all the same; the ticker plans none of them, and they show among the orphans.
            _log.warning(
                "Whether schedules are left of what was deleted could not be read.",
                extra={"action": "second_look_failed", "ref": str(work.guid)},
            )
            return Leftovers(None if left is None else len(left))
        return Leftovers()

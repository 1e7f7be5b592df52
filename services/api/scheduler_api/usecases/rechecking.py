"""The second look after a schedule was stored: is its job or call still there? (checklist 145-147)

The row lock that creating and deleting take settles this already. The look also covers whoever deletes without it,
and a job or call that was deleted just after the schedule was stored.
"""

import logging
import time
from collections.abc import Callable

from scheduler.domain.schedules import Schedule
from scheduler.store.database import Database, UnavailableError
from scheduler.store.deletion import delete_schedules_and_pending
from scheduler.store.parents import has_parent
from scheduler_api.usecases.errors import AbsentError

_log = logging.getLogger(__name__)

_PAUSES_SECONDS = (0.2, 0.5)  # between the three tries


class Recheck:
    """Looks again, patiently: an error would only invite a retry that creates a second schedule."""

    def __init__(self, database: Database, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._database = database
        self._pause = pause

    def parent_of(self, schedule: Schedule) -> None:
        """Remove the schedule and raise AbsentError when its job or call is gone; in doubt leave it."""
        if not self._is_gone(schedule):
            return
        try:
            with self._database.write() as connection:
                delete_schedules_and_pending(connection, [schedule.guid])
        except UnavailableError:
            # The ticker never plans it, and it shows among the orphans.
            _log.warning("A schedule without job or call could not be removed.", extra=_ids(schedule, "orphan_left"))
        raise AbsentError(schedule.ref_type)

    def _is_gone(self, schedule: Schedule) -> bool:
        for seconds in (*_PAUSES_SECONDS, None):
            try:
                with self._database.read() as connection:
                    return not has_parent(connection, schedule.ref_type, schedule.ref_guid)
            except UnavailableError:
                _log.warning("A new schedule's job or call could not be read.", extra=_ids(schedule, "recheck_failed"))
            if seconds is not None:
                self._pause(seconds)
        return False


def _ids(schedule: Schedule, action: str) -> dict[str, str]:
    return {"action": action, "schedule": str(schedule.guid), "ref": str(schedule.ref_guid)}

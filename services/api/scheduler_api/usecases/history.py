"""What ran: the executions of a job, a call or a schedule, newest first."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from scheduler.store.database import Database
from scheduler.store.history import HistoryFilter, count_history, history
from scheduler_api.pagination import Part, Wanted, by_guid
from scheduler_api.usecases.works import Work


class History:
    """Pages of executions; what a page costs does not depend on how many executions there are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, work: Work, query: Mapping[str, Any], wanted: Wanted, schedule_guid: UUID | None = None) -> Part:
        """Return a part of the history of the job or call, or of one of its schedules.

        Raises InvalidInputError for a part that could only be found by walking there.
        """
        keyset = wanted.keyset()
        which = HistoryFilter(
            ref_guid=work.guid,
            schedule_guid=schedule_guid,
            states=tuple(query.get("state") or ()),
            triggers=tuple(query.get("trigger") or ()),
            since=query.get("since"),
            until=query.get("until"),
        )
        with self._database.read() as connection:
            rows = history(connection, which, keyset)
            return by_guid(rows, wanted, lambda limit: count_history(connection, which, at_most=limit))

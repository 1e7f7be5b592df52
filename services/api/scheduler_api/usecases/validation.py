"""What the scheduler would do with an expression, alone, for a job or call, or with the schedules that are stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scheduler.domain.schedules import Schedule
from scheduler.store.database import Database, now_of
from scheduler.store.schedules import schedules_of
from scheduler.timetable.analysis import Analysis
from scheduler_api.pagination import PLAIN_LIMIT
from scheduler_api.usecases.definitions import Rules, new_definition
from scheduler_api.usecases.works import Work, kind_of


@dataclass(frozen=True, kw_only=True, slots=True)
class Analysed:
    """An analysis, and what it is about."""

    analysis: Analysis
    since: datetime  # runs are listed from here
    work: Work | None = None
    schedule: Schedule | None = None


class Validation:
    """Analyses; nothing is stored."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._rules = rules

    def of_wish(self, wish: Mapping[str, Any], work: Work | None) -> Analysed:
        """Analyse what would be a schedule, of this job or call if one is given."""
        with self._database.read() as connection:
            since = wish.get("since") or now_of(connection)
        definition = new_definition(wish, now=since)
        key = {} if work is None else {"hash_key": str(work.guid)}
        analysis = self._rules.analyse(definition, now=since, **key, **_counts(wish))
        return Analysed(analysis=analysis, since=since, work=work)

    def of_stored(self, wish: Mapping[str, Any], work: Work) -> list[Analysed]:
        """Analyse each stored schedule of the job or call."""
        with self._database.read() as connection:
            since = wish.get("since") or now_of(connection)
            schedules = schedules_of(connection, kind_of(work), work.guid, limit=PLAIN_LIMIT)
        return [
            Analysed(analysis=self._analysis_of(schedule, since, wish), since=since, work=work, schedule=schedule)
            for schedule in schedules
        ]

    def _analysis_of(self, schedule: Schedule, since: datetime, wish: Mapping[str, Any]) -> Analysis:
        key = str(schedule.ref_guid)
        return self._rules.analyse(schedule.definition, now=since, hash_key=key, **_counts(wish))


def _counts(wish: Mapping[str, Any]) -> dict[str, int]:
    return {f"{name}_count": wish[name] for name in ("next", "prev") if name in wish}

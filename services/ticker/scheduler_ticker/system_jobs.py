"""Jobs of the installation itself, on a timetable, whichever ticker comes first.

The instant that was last dealt with is a fact in the database: who moves it on has the run to itself.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Engine

from scheduler.domain.schedules import Definition
from scheduler.store import facts
from scheduler.store.database import now_of
from scheduler.timetable import Timetable, compile_timetable
from scheduler_ticker.configuration import Configuration, SystemJobSettings

_log = logging.getLogger(__name__)

LONGEST_PAUSE_SECONDS = 60.0
_ANCHOR = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemJob:
    """One thread calls `run_once`; any number of tickers may."""

    name: str
    timetable: Timetable
    work: Callable[[datetime], int]  # takes the instant for which it runs, returns how many rows it dealt with
    engine: Engine

    def run_once(self) -> float:
        """Do the work if an instant has come that nobody has dealt with; return the seconds to pause."""
        with self.engine.begin() as connection:
            now = now_of(connection)
            due = self._due_instant(now)
            mine = due is not None and facts.advance(connection, f"{facts.SYSTEM_JOB}:{self.name}", _words(due))
        if mine and due is not None:
            count = self.work(due)
            _log.info(
                f"The system job {self.name} has run.",
                extra={"action": "system_job", "system_job": self.name, "rows": count, "scheduled_time": _words(due)},
            )
        following = self.timetable.next_after(now)
        return min((following - now).total_seconds(), LONGEST_PAUSE_SECONDS) if following else LONGEST_PAUSE_SECONDS

    def _due_instant(self, now: datetime) -> datetime | None:
        """Return the latest instant up to now; those before it are covered by it."""
        return self.timetable.previous_before(now + datetime.resolution)


def system_jobs(
    configuration: Configuration, works: Mapping[str, Callable[[datetime], int]], engine: Engine, *, default_zone: str
) -> list[SystemJob]:
    """Return the system jobs that are on."""
    return [
        SystemJob(name=name, timetable=_timetable(wish, name, default_zone), work=works[name], engine=engine)
        for name, wish in configuration.system_jobs.items()
        if wish.enabled
    ]


def _timetable(wish: SystemJobSettings, name: str, default_zone: str) -> Timetable:
    # All tickers must agree on the instants of an interval, so it has an anchor that is nobody's start.
    definition = Definition(expression=wish.expression, time_zone=wish.time_zone, anchor_at=_ANCHOR)
    return compile_timetable(definition, hash_key=name, default_zone=default_zone)


def _words(instant: datetime) -> str:
    """Return an instant so that later ones compare as greater."""
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

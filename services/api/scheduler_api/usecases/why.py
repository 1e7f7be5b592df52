"""What became of an instant of a schedule, and why."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.executions import Execution
from scheduler.domain.schedules import Schedule
from scheduler.domain.states import ExecutionState, Reason, ScheduleState
from scheduler.policies.progress import compiled
from scheduler.store.database import Database, now_of
from scheduler.store.history import row_about
from scheduler.timetable import Timetable
from scheduler_api.usecases.definitions import Rules


class Verdict(StrEnum):
    """What became of an instant."""

    RAN = "ran"
    LATE = "late"  # it ran, but began more than the grace after the instant
    WAITING = "waiting"  # a run exists and has not begun
    NOT_STARTED = "not_started"  # a run existed and ended before it had begun
    COVERED = "covered"  # one run makes up for this and other instants
    SKIPPED = "skipped"
    PAUSED = "paused"
    NEEDS_REVIEW = "needs_review"
    TO_COME = "to_come"
    NOT_DUE = "not_due"
    UNKNOWN = "unknown"  # pruned, or the schedule was another then


@dataclass(frozen=True, kw_only=True, slots=True)
class Why:
    """The answer, with the row that it rests on and the due instants around the one that was asked about."""

    at: datetime
    verdict: Verdict
    schedule: Schedule
    execution: Execution | None = None
    previous_due: datetime | None = None
    next_due: datetime | None = None


class Reasons:
    """Answers from what is recorded; where nothing is, from the schedule as it is now."""

    def __init__(self, database: Database, rules: Rules) -> None:
        self._database = database
        self._zone = rules.default_zone

    def why(self, schedule: Schedule, at: datetime) -> Why:
        """Say what became of the instant."""
        with self._database.read() as connection:
            row = row_about(connection, schedule.guid, at)
            now = now_of(connection)
        timetable = self._timetable(schedule)
        if row is not None and row.scheduled_time != at and _disowns(timetable, schedule, row, at):
            row = None
        verdict = _of_row(row, at, schedule) if row else _without_row(timetable, schedule, at, now)
        return Why(
            at=at,
            verdict=verdict,
            schedule=schedule,
            execution=row,
            previous_due=timetable.previous_before(at) if timetable else None,
            next_due=timetable.next_after(at) if timetable else None,
        )

    def _timetable(self, schedule: Schedule) -> Timetable | None:
        try:
            return compiled(schedule, self._zone)
        except InvalidInputError:
            return None


def _disowns(timetable: Timetable | None, schedule: Schedule, row: Execution, at: datetime) -> bool:
    """Tell whether the instant lies in a covered range without having been due itself, as far as can be told."""
    is_same = row.definition_version == schedule.definition_version
    return is_same and timetable is not None and not timetable.is_due(at)


def _of_row(row: Execution, at: datetime, schedule: Schedule) -> Verdict:
    if row.state is ExecutionState.SKIPPED:
        by_reason = {Reason.PAUSED: Verdict.PAUSED, Reason.REVIEW: Verdict.NEEDS_REVIEW}
        return by_reason.get(row.reason, Verdict.SKIPPED) if row.reason else Verdict.SKIPPED
    if row.covers_count and row.covers_count > 1:
        return Verdict.COVERED
    if row.execution_start_time is None:
        return Verdict.WAITING if row.state is ExecutionState.PENDING else Verdict.NOT_STARTED
    grace = timedelta(seconds=schedule.definition.misfire.grace_seconds)
    return Verdict.LATE if row.execution_start_time > at + grace else Verdict.RAN


def _without_row(timetable: Timetable | None, schedule: Schedule, at: datetime, now: datetime) -> Verdict:
    progress = schedule.progress
    if timetable is None:
        return Verdict.UNKNOWN
    if at < schedule.created_at or not timetable.is_due(at) or progress.state is ScheduleState.FINISHED:
        return Verdict.NOT_DUE
    if at <= progress.cursor_at:
        return Verdict.UNKNOWN
    if progress.state is ScheduleState.NEEDS_REVIEW:
        return Verdict.NEEDS_REVIEW
    if not progress.enabled and (progress.paused_until is None or at < progress.paused_until):
        return Verdict.PAUSED
    return Verdict.TO_COME if at > now else Verdict.WAITING

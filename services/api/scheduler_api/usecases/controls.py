"""What is done to a schedule beside editing it: pause, resume, trigger, revalidate."""

from dataclasses import replace
from datetime import datetime
from uuid import UUID

from sqlalchemy import Connection

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.planning import Plan
from scheduler.domain.schedules import Schedule
from scheduler.domain.states import ExecutionState, PausedBy, Reason, ResumePolicy
from scheduler.policies import pause, resume, revalidate, state_of_triggered
from scheduler.store.bindings import lock_app
from scheduler.store.database import Database
from scheduler.store.executions import Started, find_triggered, insert_triggered
from scheduler.store.schedules import save_schedule
from scheduler_api.usecases.audit import audit
from scheduler_api.usecases.bindings import BindingRule
from scheduler_api.usecases.definitions import Rules
from scheduler_api.usecases.locking import Locked, lock_of, locked, write_plan
from scheduler_api.usecases.works import Work


class Controls:
    """Schedules of jobs and calls that the caller may act on; all of it raises AbsentError without such a schedule."""

    def __init__(self, database: Database, bindings: BindingRule, rules: Rules) -> None:
        self._database = database
        self._bindings = bindings
        self._zone = rules.default_zone

    def pause(
        self, caller: Caller, work: Work, guid: UUID, *, note: str | None = None, until: datetime | None = None
    ) -> Schedule:
        """Stop new executions, perhaps only until some instant; those that exist go on.

        Raises InvalidInputError when `until` has passed.
        """
        with self._database.write() as connection:
            held = lock_of(connection, work, guid)
            if until is not None and until <= held.now:
                raise InvalidInputError(Finding(code="invalid_field", message="until is already past", field="until"))
            audit(connection, caller, "pause", held.schedule, note=note, until=until and until.isoformat())
            return self._paused(connection, held, note=note, until=until)

    def resume(self, caller: Caller, work: Work, guid: UUID, *, missed: ResumePolicy) -> Schedule:
        """Let a schedule run again, and say what becomes of the instants missed meanwhile.

        Raises ForbiddenError when the app needs a binding, as it always does when losing its last one made the pause;
        InvalidInputError when a catch-up is asked for that the overlap rule forbids.
        """
        with self._database.write() as connection:
            lock_app(connection, work.app_guid)
            held = lock_of(connection, work, guid)
            audit(connection, caller, "resume", held.schedule, missed=missed)
            return self._resumed(connection, caller, work, held, missed)

    def switched(
        self, connection: Connection, caller: Caller, work: Work, schedule: Schedule, *, enabled: bool | None
    ) -> Schedule:
        """Pause or resume a schedule whose `enabled` is changed, in a transaction that has locked app and schedule."""
        if enabled is None or enabled == schedule.progress.enabled:
            return schedule
        held = locked(connection, schedule)
        if enabled:
            return self._resumed(connection, caller, work, held, ResumePolicy.SKIP_PAUSED)
        return self._paused(connection, held)

    def revalidate(self, caller: Caller, work: Work, guid: UUID) -> Schedule:
        """Take a schedule out of `needs_review` and go on from now.

        Raises ForbiddenError when the app needs a binding, InvalidInputError when the expression cannot be read.
        """
        with self._database.write() as connection:
            self._bindings.hold(connection, caller, work.app_guid)
            held = lock_of(connection, work, guid)
            audit(connection, caller, "revalidate", held.schedule)
            return _written(connection, held, revalidate(held.schedule, held.now, default_zone=self._zone))

    def trigger(self, caller: Caller, work: Work, guid: UUID, *, trigger_id: str | None) -> Started:
        """Create one extra execution now, also while the schedule is paused; the same id gives the same execution.

        It obeys the overlap rule, which may leave only a record that nothing runs. Raises ForbiddenError when the app
        needs a binding.
        """
        with self._database.write() as connection:
            self._bindings.check(connection, caller, work.app_guid)
            held = lock_of(connection, work, guid)
            if trigger_id is not None and (known := find_triggered(connection, work.guid, guid, trigger_id)):
                return known
            state = state_of_triggered(held.schedule.definition.overlap, held.live)
            skipped_for = Reason.OVERLAP if state is ExecutionState.SKIPPED else None
            started = insert_triggered(connection, guid, trigger_id=trigger_id, skipped_for=skipped_for)
            audit(connection, caller, "trigger", held.schedule, execution_guid=str(started.execution.guid))
            return started

    def _paused(
        self, connection: Connection, held: Locked, *, note: str | None = None, until: datetime | None = None
    ) -> Schedule:
        plan = pause(held.schedule, held.live, held.now, note=note, until=until, default_zone=self._zone)
        return _written(connection, held, plan)

    def _resumed(
        self, connection: Connection, caller: Caller, work: Work, held: Locked, missed: ResumePolicy
    ) -> Schedule:
        is_unbound = held.schedule.progress.paused_by is PausedBy.UNBIND
        self._bindings.check(connection, caller, work.app_guid, in_any_case=is_unbound)
        plan = resume(held.schedule, held.live, held.now, missed=missed, default_zone=self._zone)
        return _written(connection, held, plan)


def _written(connection: Connection, held: Locked, plan: Plan) -> Schedule:
    write_plan(connection, held.schedule, plan)
    changed = replace(held.schedule, progress=plan.progress, updated_at=held.now)
    save_schedule(connection, changed, now=held.now)
    return changed

"""Schedules of a job or call: created, listed, read, edited."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.guids import new_guid
from scheduler.domain.schedules import Schedule
from scheduler.policies import create_progress, edit
from scheduler.store.bindings import lock_app
from scheduler.store.database import Database, now_of
from scheduler.store.parents import hold_parent
from scheduler.store.schedules import count_schedules_of, get_schedule, insert_schedule, save_schedule, schedules_of
from scheduler.store.space_schedules import SpaceFilter, count_schedules_of_space, schedules_of_space
from scheduler_api.pagination import Part, Wanted, numbered
from scheduler_api.usecases.audit import audit, noun_of
from scheduler_api.usecases.bindings import BindingRule
from scheduler_api.usecases.controls import Controls
from scheduler_api.usecases.definitions import Rules, changed_definition, new_definition
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.locking import Locked, lock_of, write_plan
from scheduler_api.usecases.rechecking import Recheck
from scheduler_api.usecases.works import Work, kind_of


class Schedules:
    """Schedules of jobs and calls that the caller may act on."""

    def __init__(
        self, database: Database, bindings: BindingRule, rules: Rules, controls: Controls, recheck: Recheck
    ) -> None:
        self._database = database
        self._bindings = bindings
        self._rules = rules
        self._controls = controls
        self._recheck = recheck

    def create(self, caller: Caller, work: Work, wish: Mapping[str, Any]) -> Schedule:
        """Store a schedule; its first instant is the first after now.

        Raises InvalidInputError, ForbiddenError when the app needs a binding, AbsentError when the job or call goes
        meanwhile.
        """
        with self._database.write() as connection:
            self._bindings.hold(connection, caller, work.app_guid)
            if not hold_parent(connection, kind_of(work), work.guid):
                raise AbsentError(noun_of(work))
            schedule = self._new(connection, work, wish)
            insert_schedule(connection, schedule)
            audit(connection, caller, "create", schedule, expression=schedule.definition.expression)
        self._recheck.parent_of(schedule)
        return schedule

    def _new(self, connection: Connection, work: Work, wish: Mapping[str, Any]) -> Schedule:
        now = now_of(connection)
        definition = new_definition(wish, now=now)
        self._rules.check(definition, ref_guid=work.guid, now=now)
        progress = create_progress(
            definition,
            now=now,
            hash_key=str(work.guid),
            default_zone=self._rules.default_zone,
            enabled=wish.get("enabled", True),
        )
        return Schedule(
            guid=new_guid(),
            ref_type=kind_of(work),
            ref_guid=work.guid,
            space_guid=work.space_guid,
            definition=definition,
            progress=progress,
            metadata=wish.get("metadata", {}),
            created_at=now,
            updated_at=now,
        )

    def of(self, work: Work, wanted: Wanted) -> Part:
        """Return a part of the schedules of the job or call, oldest first."""
        kind, guid = kind_of(work), work.guid
        with self._database.read() as connection:
            rows = schedules_of(connection, kind, guid, limit=wanted.limit, offset=wanted.offset)
            return numbered(rows, wanted, lambda: count_schedules_of(connection, kind, guid))

    def of_space(self, which: SpaceFilter, wanted: Wanted) -> Part:
        """Return a part of a space's schedules, those that run next first."""
        with self._database.read() as connection:
            rows = schedules_of_space(connection, which, limit=wanted.limit, offset=wanted.offset)
            return numbered(rows, wanted, lambda: count_schedules_of_space(connection, which))

    def find(self, work: Work, guid: UUID) -> Schedule:
        """Return one schedule of the job or call.

        Raises AbsentError, also when it belongs to another one.
        """
        with self._database.read() as connection:
            schedule = get_schedule(connection, guid)
        if schedule is None or schedule.ref_guid != work.guid:
            raise AbsentError("schedule")
        return schedule

    def change(self, caller: Caller, work: Work, guid: UUID, wish: Mapping[str, Any]) -> Schedule:
        """Change the fields that `wish` names; None means back to the default. Nothing fires because of it.

        Raises as `create` does, AbsentError also without such a schedule.
        """
        with self._database.write() as connection:
            lock_app(connection, work.app_guid)
            self._bindings.check(connection, caller, work.app_guid)
            held = lock_of(connection, work, guid)
            changed = self._edited(connection, held, wish)
            save_schedule(connection, changed, now=held.now)
            audit(connection, caller, "update", changed, changed=sorted(wish))
            return self._controls.switched(connection, caller, work, changed, enabled=_enabled(wish))

    def _edited(self, connection: Connection, held: Locked, wish: Mapping[str, Any]) -> Schedule:
        present, now = held.schedule, held.now
        definition = changed_definition(present.definition, wish, now=now)
        metadata = (wish["metadata"] or {}) if "metadata" in wish else present.metadata
        changed = replace(present, definition=definition, metadata=metadata, updated_at=now)
        if definition == present.definition:
            return changed
        self._rules.check(definition, ref_guid=present.ref_guid, now=now)
        plan = edit(present, held.live, now, definition, default_zone=self._rules.default_zone)
        # The rows that are still due under the old definition carry its version, so they are written first.
        write_plan(connection, present, plan)
        return replace(changed, progress=plan.progress, definition_version=present.definition_version + 1)


def _enabled(wish: Mapping[str, Any]) -> bool | None:
    """Return what a change says about `enabled`: None leaves it, null is the default."""
    if "enabled" not in wish:
        return None
    return wish["enabled"] is not False

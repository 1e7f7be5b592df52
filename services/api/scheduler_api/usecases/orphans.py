"""Finding and deleting what is left of apps, jobs and calls that are gone. Nothing goes without being named."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.errors import PermanentError
from scheduler.domain.schedules import Schedule
from scheduler.runtime.loops import describe
from scheduler.store.database import Database, UnavailableError
from scheduler.store.deletion import delete_schedules_and_pending
from scheduler.store.orphans import (
    Work,
    apps_with_work,
    orphan_schedules,
    schedules_by_ref,
    work_by_guid,
    work_of_apps,
)
from scheduler.store.parents import has_parent
from scheduler.store.schedules import lock_schedule
from scheduler_api.usecases.app_checks import AppChecks, UndecidedError
from scheduler_api.usecases.audit import audit
from scheduler_api.usecases.deletion import Deletion, Leftovers
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.works import Works

_log = logging.getLogger(__name__)

_FAILURES = (UnavailableError, SQLAlchemyError)


class NotAdminError(PermanentError):
    """Orphans are for admins (403, with an empty body)."""


class Result(StrEnum):
    """What became of one GUID."""

    DELETED = "deleted"
    APP_EXISTS = "app_exists"
    PARENT_EXISTS = "parent_exists"
    NOT_FOUND = "not_found"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The answer about one GUID, as it was sent."""

    guid: str
    result: Result
    type: str = ""  # job, call or schedule; empty when it is not known
    message: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class OrphanedWork:
    """A job or call whose app is gone."""

    work: Work
    schedules: Sequence[Schedule]


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """Everything without an owner, in every space."""

    resources: Sequence[OrphanedWork]
    orphan_schedules: Sequence[Schedule]


class Orphans:
    """What is left behind; all of it raises NotAdminError for anybody but an admin."""

    def __init__(self, database: Database, checks: AppChecks, works: Works, deletion: Deletion) -> None:
        self._database = database
        self._checks = checks
        self._works = works
        self._deletion = deletion

    def require_admin(self, caller: Caller) -> None:
        """Raise NotAdminError for anybody but an admin, before their request is looked at."""
        if not caller.is_admin:
            raise NotAdminError("orphans are for admins")

    def find(self, caller: Caller) -> Found:
        """Return what is left behind; nothing is changed.

        Raises ScopeMissingError or UndecidedError, unless there is no app to be asked about.
        """
        self.require_admin(caller)
        with self._database.read() as connection:
            apps = apps_with_work(connection)
        if apps:
            self._checks.check_scopes()
        gone = self._checks.gone_among(apps)
        with self._database.read() as connection:
            works = work_of_apps(connection, gone)
            schedules = schedules_by_ref(connection, [work.guid for work in works])
            return Found(
                resources=[OrphanedWork(work=work, schedules=schedules.get(work.guid, ())) for work in works],
                orphan_schedules=orphan_schedules(connection),
            )

    def delete(self, caller: Caller, guids: Sequence[str]) -> Sequence[Outcome]:
        """Delete those of the named jobs, calls and schedules that are orphans; one outcome per distinct GUID.

        Raises ScopeMissingError or UndecidedError before anything is deleted, unless no app has to be asked about.
        """
        self.require_admin(caller)
        named = _distinct(guids)
        works = self._look_up([guid for guid in named if isinstance(guid, UUID)])
        if works is None or works:
            self._checks.check_scopes()
        return [self._delete_one(caller, guid, sent, works) for guid, sent in named.items()]

    def _look_up(self, guids: Sequence[UUID]) -> Mapping[UUID, Work] | None:
        try:
            with self._database.read() as connection:
                return work_by_guid(connection, guids)
        except _FAILURES as error:
            _log_failure("Orphans could not be looked up", error)
            return None

    def _delete_one(self, caller: Caller, guid: UUID | str, sent: str, works: Mapping[UUID, Work] | None) -> Outcome:
        if isinstance(guid, str):
            return Outcome(guid=sent, result=Result.NOT_FOUND)
        if works is None:
            return Outcome(guid=sent, result=Result.FAILED, message="the GUID could not be looked up")
        work = works.get(guid)
        return self._delete_schedule(caller, guid, sent) if work is None else self._delete_work(caller, work, sent)

    def _delete_work(self, caller: Caller, work: Work, sent: str) -> Outcome:
        def outcome(result: Result, message: str | None = None) -> Outcome:
            return Outcome(guid=sent, type=work.ref_type, result=result, message=message)

        try:
            if not self._checks.is_gone(work.app_guid):
                return outcome(Result.APP_EXISTS, f"app {work.app_guid} exists")
            found = self._works.find(caller, work.ref_type, work.guid)
            return outcome(Result.DELETED, _about(self._deletion.delete_work(caller, found)))
        except UndecidedError as error:
            return outcome(Result.FAILED, f"the app could not be checked: {error}")
        except AbsentError:
            return outcome(Result.DELETED)  # by somebody else, a moment ago
        except _FAILURES as error:
            _log_failure(f"An orphaned {work.ref_type} could not be deleted", error)
            return outcome(Result.FAILED, f"the {work.ref_type} could not be deleted")

    def _delete_schedule(self, caller: Caller, guid: UUID, sent: str) -> Outcome:
        step = "looked up"
        try:
            with self._database.write() as connection:
                schedule = lock_schedule(connection, guid)
                if schedule is None:
                    return Outcome(guid=sent, result=Result.NOT_FOUND)
                if has_parent(connection, schedule.ref_type, schedule.ref_guid):
                    message = f"{schedule.ref_type} {schedule.ref_guid} exists"
                    return Outcome(guid=sent, type="schedule", result=Result.PARENT_EXISTS, message=message)
                step = "deleted"
                delete_schedules_and_pending(connection, [guid])
                audit(connection, caller, "delete", schedule, expression=schedule.definition.expression)
        except _FAILURES as error:
            _log_failure(f"An orphan schedule could not be {step}", error)
            message = f"the schedule could not be {step}"
            return Outcome(guid=sent, type="schedule", result=Result.FAILED, message=message)
        return Outcome(guid=sent, type="schedule", result=Result.DELETED)


def _distinct(guids: Sequence[str]) -> Mapping[UUID | str, str]:
    """Return each GUID once, at its first position, with the spelling in which it was sent."""
    found: dict[UUID | str, str] = {}
    for sent in guids:
        found.setdefault(_read(sent), sent)
    return found


def _read(sent: str) -> UUID | str:
    """Return the GUID, or the text itself when it cannot be one of ours."""
    try:
        guid = UUID(sent)
    except ValueError:
        return sent
    # UUID also reads braces, prefixes and missing hyphens, which are no spelling of a GUID here.
    return guid if str(guid) == sent.lower() else sent


def _about(left: Leftovers) -> str | None:
    if left.count is None:
        return "schedules that were created during the delete could not be looked for"
    if left.count:
        return f"{left.count} schedules that were created during the delete could not be removed"
    return None


def _log_failure(sentence: str, error: Exception) -> None:
    cause = describe(error.__cause__ or error)
    _log.warning(f"{sentence}: {cause}", extra={"action": "orphans_failed"})

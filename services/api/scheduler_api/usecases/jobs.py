"""Creating, listing and changing jobs."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from scheduler.cloudfoundry.resources import App
from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.guids import new_guid
from scheduler.domain.jobs import CONTEXT_CHARACTERS, MAX_COMMAND_CHARACTERS, Job
from scheduler.store.database import Database, now_of
from scheduler.store.jobs import count_jobs, insert_job, jobs_of_space, lock_job, save_job
from scheduler_api.pagination import Part, Wanted, numbered
from scheduler_api.usecases.audit import audit
from scheduler_api.usecases.bindings import BindingRule
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.names import taken_name_is_invalid

_DEFAULTS: Mapping[str, Any] = {field.name: field.default for field in fields(Job)}


class Jobs:
    """Jobs of apps in whose space the caller may act."""

    def __init__(self, database: Database, bindings: BindingRule) -> None:
        self._database = database
        self._bindings = bindings

    def create(self, caller: Caller, app: App, wish: Mapping[str, Any]) -> Job:
        """Store a job for the app, in the space in which the app is now.

        Raises InvalidInputError when the app has a job of that name, or when the command is too long for its context;
        ForbiddenError when the app needs a binding.
        """
        with taken_name_is_invalid("job"), self._database.write() as connection:
            self._bindings.check(connection, caller, app.guid)
            now = now_of(connection)
            whole = {**wish, "app_guid": app.guid, "space_guid": app.space_guid}
            job = Job(**whole, guid=new_guid(), created_at=now, updated_at=now)
            _check_command(job)
            insert_job(connection, job)
            audit(connection, caller, "create", job, name=job.name)
        return job

    def of_space(self, space_guid: str, wanted: Wanted) -> Part:
        """Return a part of the space's jobs, by name."""
        with self._database.read() as connection:
            rows = jobs_of_space(connection, space_guid, limit=wanted.limit, offset=wanted.offset)
            return numbered(rows, wanted, lambda: count_jobs(connection, space_guid))

    def change(self, caller: Caller, job: Job, wish: Mapping[str, Any]) -> Job:
        """Change the fields that `wish` names; None means back to the default.

        Raises as `create` does, AbsentError when the job is gone.
        """
        changes = {name: _DEFAULTS[name] if value is None else value for name, value in wish.items()}
        with taken_name_is_invalid("job"), self._database.write() as connection:
            self._bindings.check(connection, caller, job.app_guid)
            present = lock_job(connection, job.guid)
            if present is None:
                raise AbsentError("job")
            changed = replace(present, **changes, updated_at=now_of(connection))
            _check_command(changed)
            save_job(connection, changed, now=changed.updated_at)
            audit(connection, caller, "update", changed, changed=sorted(changes))
        return changed


def _check_command(job: Job) -> None:
    """Raise InvalidInputError when the command leaves no room for what `pass_context` puts before it."""
    most = MAX_COMMAND_CHARACTERS - CONTEXT_CHARACTERS
    if job.pass_context and len(job.command) > most:
        message = f"command must have at most {most} characters with pass_context"
        raise InvalidInputError(Finding(code="invalid_field", message=message, field="command"))

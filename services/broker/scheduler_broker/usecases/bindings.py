"""Bind and unbind: letting an app be scheduled, or handing out a service key."""

from dataclasses import dataclass

from sqlalchemy import Connection

from scheduler.domain.service_instances import Binding
from scheduler.store.bindings import delete_bindings, get_binding, insert_binding, lock_app
from scheduler.store.database import Database
from scheduler.store.instances import get_instance, lock_instance
from scheduler_broker.errors import ConcurrencyError, ConflictError, GoneError, UnknownInstanceError
from scheduler_broker.usecases.auditing import Actor, audit_binding
from scheduler_broker.usecases.cloud import Cloud
from scheduler_broker.usecases.pausing import Pausing


@dataclass(frozen=True, kw_only=True, slots=True)
class Bound:
    """A binding that exists now, and whether this request made it."""

    binding: Binding
    is_new: bool


class Bindings:
    """Bindings of apps, and service keys."""

    def __init__(self, database: Database, cloud: Cloud, pausing: Pausing) -> None:
        self._database = database
        self._cloud = cloud
        self._pausing = pausing

    def bind(self, asked: Binding, actor: Actor) -> Bound:
        """Let an app of the instance's space be scheduled; what an unbind paused goes on in the same transaction.

        Raises UnknownInstanceError, ConflictError, WrongSpaceError or CannotAskError.
        """
        with self._database.read() as connection:
            instance = get_instance(connection, asked.instance_guid)
            present = get_binding(connection, asked.guid)
        if instance is None:
            raise UnknownInstanceError("there is no such service instance")
        if present is not None:
            return _repeated(present, asked)
        if asked.app_guid is not None:
            self._cloud.check_space_of_app(asked.app_guid, instance.space_guid)
        with self._database.write() as connection:
            # The instance may have gone while Cloud Controller was asked.
            if lock_instance(connection, asked.instance_guid) != instance:
                raise UnknownInstanceError("there is no such service instance any more")
            return self._store(connection, asked, instance.space_guid, actor)

    def unbind(self, instance_guid: str, guid: str, actor: Actor) -> None:
        """Take a binding away; an app that loses its last one is paused in the same transaction.

        Raises GoneError.
        """
        with self._database.write() as connection:
            instance = lock_instance(connection, instance_guid)
            binding = get_binding(connection, guid)
            if instance is None or binding is None or binding.instance_guid != instance_guid:
                raise GoneError("there is no such binding")
            if binding.app_guid is not None:
                lock_app(connection, binding.app_guid)
            delete_bindings(connection, [guid])
            audit_binding(connection, actor, "delete", binding, instance.space_guid)
            if binding.app_guid is not None:
                self._pausing.pause_unless_bound(connection, binding.app_guid, actor)

    def _store(self, connection: Connection, asked: Binding, space_guid: str, actor: Actor) -> Bound:
        if asked.app_guid is not None:
            lock_app(connection, asked.app_guid)
        if not insert_binding(connection, asked):
            return _repeated(get_binding(connection, asked.guid), asked)
        audit_binding(connection, actor, "create", asked, space_guid)
        if asked.app_guid is not None:
            self._pausing.resume(connection, asked.app_guid, actor)
        return Bound(binding=asked, is_new=True)


def _repeated(present: Binding | None, asked: Binding) -> Bound:
    if present is None:
        raise ConcurrencyError("another operation on this binding was under way; try again")
    if present != asked:
        raise ConflictError("this binding exists with other attributes")
    return Bound(binding=present, is_new=False)

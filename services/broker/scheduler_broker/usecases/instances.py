"""Provision and deprovision: turning the scheduler on and off for a space."""

import logging

from sqlalchemy import Connection

from scheduler.domain.service_instances import ServiceInstance
from scheduler.store.bindings import bindings_of_instance, lock_apps
from scheduler.store.database import Database
from scheduler.store.instances import (
    delete_instance,
    get_instance,
    insert_instance,
    instance_of_space,
    lock_instance,
)
from scheduler_broker.errors import ConcurrencyError, ConflictError, GoneError, PlanChangeError, UnknownInstanceError
from scheduler_broker.usecases.auditing import Actor, audit_instance
from scheduler_broker.usecases.cloud import Cloud
from scheduler_broker.usecases.pausing import Pausing

_log = logging.getLogger(__name__)

_CHANGED_MEANWHILE = "another operation on the space's service instance was under way; try again"


class Instances:
    """Service instances, at most one in a space."""

    def __init__(self, database: Database, cloud: Cloud, pausing: Pausing) -> None:
        self._database = database
        self._cloud = cloud
        self._pausing = pausing

    def provision(self, asked: ServiceInstance, actor: Actor) -> bool:
        """Turn the scheduler on for a space; return false when exactly this was done before.

        Raises ConflictError when the id or the space has another instance, unless that one was purged.
        """
        with self._database.write() as connection:
            if insert_instance(connection, asked):
                audit_instance(connection, actor, "create", asked)
                return True
            present = get_instance(connection, asked.guid)
            holder = instance_of_space(connection, asked.space_guid)
        if present is not None:
            if present != asked:
                raise ConflictError("this service instance exists with other attributes")
            return False
        if holder is None:
            raise ConcurrencyError(_CHANGED_MEANWHILE)
        self._cloud.check_purged(holder.guid)
        self._replace(holder.guid, asked, actor)
        return True

    def deprovision(self, guid: str, actor: Actor) -> None:
        """Turn the scheduler off for a space: bindings go first, and apps that lose their last one are paused.

        Raises GoneError.
        """
        with self._database.write() as connection:
            if not self._remove(connection, guid, actor):
                raise GoneError("there is no such service instance")

    def update(self, guid: str, *, wants_other_plan: bool) -> None:
        """Accept an update that leaves the plan as it is: nothing else of an instance can change.

        Raises UnknownInstanceError or PlanChangeError.
        """
        with self._database.read() as connection:
            if get_instance(connection, guid) is None:
                raise UnknownInstanceError("there is no such service instance")
        if wants_other_plan:
            raise PlanChangeError("the plan of a scheduler service instance cannot be changed")

    def _replace(self, purged_guid: str, asked: ServiceInstance, actor: Actor) -> None:
        with self._database.write() as connection:
            self._remove(connection, purged_guid, actor)
            if not insert_instance(connection, asked):
                # Somebody else was first; raised in here, so that what was purged is not removed for nothing.
                raise ConcurrencyError(_CHANGED_MEANWHILE)
            audit_instance(connection, actor, "create", asked, replaces=purged_guid)
        _log.info(
            "A purged service instance was replaced.",
            extra={"action": "instance_replaced", "purged_guid": purged_guid, "instance_guid": asked.guid},
        )

    def _remove(self, connection: Connection, guid: str, actor: Actor) -> bool:
        instance = lock_instance(connection, guid)
        if instance is None:
            return False
        bindings = bindings_of_instance(connection, guid)
        apps = sorted({binding.app_guid for binding in bindings if binding.app_guid is not None})
        lock_apps(connection, apps)
        delete_instance(connection, guid)
        audit_instance(connection, actor, "delete", instance, bindings=len(bindings))
        for app in apps:
            self._pausing.pause_unless_bound(connection, app, actor)
        return True

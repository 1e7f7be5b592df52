"""Brokers, what they offer, and what users made of it."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from scheduler_local.standin.state import StateFile


@dataclass(kw_only=True)
class Operation:
    """The last thing that was done to a resource, and how that went."""

    type: str  # create, update, delete
    state: str = "in progress"  # then succeeded or failed
    description: str = ""


@dataclass(kw_only=True)
class Broker:
    """A registered broker."""

    guid: str = field(default_factory=lambda: str(uuid4()))
    name: str
    url: str
    username: str
    password: str = field(repr=False)


@dataclass(kw_only=True)
class Offering:
    """A service of a broker's catalog."""

    guid: str = field(default_factory=lambda: str(uuid4()))
    broker_guid: str
    catalog_id: str
    name: str
    description: str
    bindable: bool
    plan_updateable: bool


@dataclass(kw_only=True)
class Plan:
    """A plan of a service; until it is public only admins see it."""

    guid: str = field(default_factory=lambda: str(uuid4()))
    offering_guid: str
    catalog_id: str
    name: str
    description: str
    free: bool
    visibility: str = "admin"


@dataclass(kw_only=True)
class Instance:
    """A service instance."""

    guid: str = field(default_factory=lambda: str(uuid4()))
    name: str
    space_guid: str
    plan_guid: str
    operation: Operation
    created_at: float = field(default_factory=time.time)


@dataclass(kw_only=True)
class Binding:
    """A service credential binding: of an app, or a key when there is none."""

    guid: str = field(default_factory=lambda: str(uuid4()))
    name: str | None
    instance_guid: str
    app_guid: str | None
    operation: Operation
    credentials: dict[str, Any] = field(default_factory=dict, repr=False)
    created_at: float = field(default_factory=time.time)

    @property
    def type(self) -> str:
        """Return what Cloud Controller calls it."""
        return "key" if self.app_guid is None else "app"


T = TypeVar("T", Broker, Offering, Plan, Instance, Binding)


class Services:
    """All of them by GUID; written to `folder` after each change, if there is one."""

    def __init__(self, folder: Path | None = None) -> None:
        self.lock = threading.RLock()
        self._file = StateFile(folder, "services.json")
        self.brokers: dict[str, Broker] = {}
        self.offerings: dict[str, Offering] = {}
        self.plans: dict[str, Plan] = {}
        self.instances: dict[str, Instance] = {}
        self.bindings: dict[str, Binding] = {}
        stored = self._file.read()
        if stored is not None:
            self._load(stored)

    def reset(self) -> None:
        """Forget everything."""
        with self.lock:
            for things in (self.brokers, self.offerings, self.plans, self.instances, self.bindings):
                things.clear()
        self.save()

    def save(self) -> None:
        """Write everything down."""
        with self.lock:
            kinds = (self.brokers, self.offerings, self.plans, self.instances, self.bindings)
            self._file.write([[asdict(thing) for thing in things.values()] for things in kinds])

    def offerings_of(self, broker_guid: str) -> list[Offering]:
        """Return what a broker offers."""
        with self.lock:
            return [offering for offering in self.offerings.values() if offering.broker_guid == broker_guid]

    def plans_of(self, offering_guid: str) -> list[Plan]:
        """Return the plans of a service."""
        with self.lock:
            return [plan for plan in self.plans.values() if plan.offering_guid == offering_guid]

    def instances_of(self, plan_guids: Iterable[str]) -> list[Instance]:
        """Return the instances of some plans."""
        wanted = set(plan_guids)
        with self.lock:
            return [instance for instance in self.instances.values() if instance.plan_guid in wanted]

    def bindings_of(self, instance_guid: str) -> list[Binding]:
        """Return the bindings and keys of an instance."""
        with self.lock:
            return [binding for binding in self.bindings.values() if binding.instance_guid == instance_guid]

    def origin(self, instance: Instance) -> tuple[Broker, Offering, Plan]:
        """Return where an instance comes from."""
        plan = self.plans[instance.plan_guid]
        offering = self.offerings[plan.offering_guid]
        return self.brokers[offering.broker_guid], offering, plan

    def forget_instance(self, guid: str) -> None:
        """Remove an instance and its bindings from memory, and tell nobody."""
        with self.lock:
            for binding in self.bindings_of(guid):
                del self.bindings[binding.guid]
            self.instances.pop(guid, None)
        self.save()

    def _load(self, stored: list[list[dict[str, Any]]]) -> None:
        brokers, offerings, plans, instances, bindings = stored
        self.brokers = _by_guid(Broker, brokers)
        self.offerings = _by_guid(Offering, offerings)
        self.plans = _by_guid(Plan, plans)
        self.instances = _by_guid(Instance, map(_with_operation, instances))
        self.bindings = _by_guid(Binding, map(_with_operation, bindings))


def _by_guid(kind: Callable[..., T], stored: Iterable[dict[str, Any]]) -> dict[str, T]:
    return {fields["guid"]: kind(**fields) for fields in stored}


def _with_operation(fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields, "operation": Operation(**fields["operation"])}

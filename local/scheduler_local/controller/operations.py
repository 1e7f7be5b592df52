"""What Cloud Controller does with a broker for each operation, and how it cleans up when it cannot tell the outcome."""

import threading
from collections.abc import Mapping
from typing import Any

from scheduler_local.controller.broker_client import BrokerClient, BrokerError
from scheduler_local.controller.catalog import take_up
from scheduler_local.controller.services import Binding, Broker, Instance, Operation, Services
from scheduler_local.controller.world import World

MITIGATIONS = 11


class Operations:
    """Provision, bind, unbind, deprovision. A minute of orphan mitigation lasts `minute_seconds`."""

    def __init__(self, services: Services, world: World, client: BrokerClient, *, minute_seconds: float) -> None:
        self._services = services
        self._world = world
        self._client = client
        self._minute_seconds = minute_seconds
        self._stopped = threading.Event()

    def register(self, broker: Broker) -> None:
        """Take up a broker with its catalog; one without a valid catalog is not kept."""
        try:
            take_up(self._services, broker, self._client.catalog(broker))
        except Exception:
            if not self._services.offerings_of(broker.guid):
                self._services.brokers.pop(broker.guid, None)
            raise

    def provision(self, instance: Instance, parameters: Any, user_guid: str) -> None:
        """Have the broker create an instance."""
        broker, offering, plan = self._services.origin(instance)
        organization_guid = self._world.spaces[instance.space_guid].organization_guid
        body = {
            "service_id": offering.catalog_id,
            "plan_id": plan.catalog_id,
            "organization_guid": organization_guid,
            "space_guid": instance.space_guid,
            "context": {**self._context(instance), "instance_name": instance.name},
            **_given(parameters),
        }
        path = f"{_path(instance)}?accepts_incomplete=true"
        self._create(broker, instance, path, body, user_guid)

    def bind(self, binding: Binding, parameters: Any, user_guid: str) -> None:
        """Have the broker create a binding or a key."""
        instance = self._services.instances[binding.instance_guid]
        broker, offering, plan = self._services.origin(instance)
        body = {
            "service_id": offering.catalog_id,
            "plan_id": plan.catalog_id,
            "context": self._context(instance),
            **_bind_resource(binding, instance),
            **_given(parameters),
        }
        path = f"{_path(instance, binding)}?accepts_incomplete=true"
        binding.credentials = self._create(broker, binding, path, body, user_guid).get("credentials") or {}
        self._services.save()

    def unbind(self, binding: Binding, user_guid: str) -> None:
        """Have the broker delete a binding or a key, and forget it only then."""
        instance = self._services.instances[binding.instance_guid]
        self._delete(instance, binding, user_guid)
        with self._services.lock:
            self._services.bindings.pop(binding.guid, None)
        self._services.save()

    def deprovision(self, instance: Instance, user_guid: str) -> None:
        """Have the broker delete all bindings of an instance, then the instance."""
        for binding in self._services.bindings_of(instance.guid):
            self.unbind(binding, user_guid)
        self._delete(instance, None, user_guid)
        self._services.forget_instance(instance.guid)

    def stop(self) -> None:
        """Let pending mitigations be."""
        self._stopped.set()
        self._stopped = threading.Event()

    def set_minute(self, seconds: float) -> None:
        """Let mitigations of from now on go faster or slower."""
        self._minute_seconds = seconds

    def _create(
        self, broker: Broker, made: Instance | Binding, path: str, body: Mapping[str, Any], user_guid: str
    ) -> dict[str, Any]:
        try:
            answer = self._client.put(broker, path, body, user_guid=user_guid)
        except BrokerError as error:
            self._note(made, "failed", error.detail)
            if error.is_unclear:
                query = {"service_id": body["service_id"], "plan_id": body["plan_id"]}
                self._mitigate(broker, path.partition("?")[0], query, user_guid)
            raise
        self._note(made, "succeeded")
        return answer.body

    def _delete(self, instance: Instance, binding: Binding | None, user_guid: str) -> None:
        broker, offering, plan = self._services.origin(instance)
        query = {"service_id": offering.catalog_id, "plan_id": plan.catalog_id}
        try:
            self._client.delete(broker, _path(instance, binding), query, user_guid=user_guid)
        except BrokerError as error:
            self._note(binding or instance, "failed", error.detail)
            raise

    def _mitigate(self, broker: Broker, path: str, query: Mapping[str, str], user_guid: str) -> None:
        """Delete what the broker may have made after all: after 2, 4, 8 … minutes, until it says that it is gone."""
        stopped = self._stopped

        def work() -> None:
            for attempt in range(1, MITIGATIONS + 1):
                if stopped.wait(self._minute_seconds * 2**attempt):
                    return
                try:
                    self._client.delete(broker, path, query, user_guid=user_guid)
                except BrokerError:
                    continue
                return

        threading.Thread(target=work, daemon=True).start()

    def _note(self, made: Instance | Binding, state: str, description: str = "") -> None:
        made.operation = Operation(type=made.operation.type, state=state, description=description)
        self._services.save()

    def _context(self, instance: Instance) -> dict[str, Any]:
        space = self._world.spaces[instance.space_guid]
        organization = self._world.organizations[space.organization_guid]
        return {
            "platform": "cloudfoundry",
            "organization_guid": organization.guid,
            "organization_name": organization.name,
            "organization_annotations": {},
            "space_guid": space.guid,
            "space_name": space.name,
            "space_annotations": {},
            "instance_annotations": {},
        }


def _bind_resource(binding: Binding, instance: Instance) -> dict[str, Any]:
    if binding.app_guid is None:
        return {"bind_resource": {"credential_client_id": "cc_service_key_client"}}
    resource = {"app_guid": binding.app_guid, "space_guid": instance.space_guid, "app_annotations": {}}
    return {"app_guid": binding.app_guid, "bind_resource": resource}


def _given(parameters: Any) -> dict[str, Any]:
    return {"parameters": parameters} if parameters else {}


def _path(instance: Instance, binding: Binding | None = None) -> str:
    path = f"/v2/service_instances/{instance.guid}"
    return path if binding is None else f"{path}/service_bindings/{binding.guid}"

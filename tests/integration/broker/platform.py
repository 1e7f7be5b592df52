"""A platform that talks to the broker as Cloud Controller does, and a Cloud Foundry for the broker to ask."""

import base64
import json
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

from flask import Flask
from werkzeug.test import TestResponse

from scheduler.cloudfoundry.errors import CannotTellError, NotFoundError
from scheduler.cloudfoundry.resources import App, ServiceInstance
from scheduler.testing.factories import APP, SPACE
from scheduler_broker.catalog import PLAN_ID, SERVICE_ID

USERNAME = "cloud-controller"
PASSWORD = "a password of more than 16 characters"
API_URL = "https://scheduler.system.example.com"
ORGANIZATION = "33333333-aaaa-4bbb-8ccc-000000000003"
USER = "55555555-aaaa-4bbb-8ccc-000000000005"


def basic(username: str = USERNAME, password: str = PASSWORD) -> str:
    """Return the value of an Authorization header."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def identity(user: Any = USER) -> str:
    """Return the value of an originating identity."""
    return "cloudfoundry " + base64.b64encode(json.dumps({"user_id": user}).encode()).decode()


def headers(**changes: str | None) -> dict[str, str]:
    """Return the headers that Cloud Controller sends; a change to None leaves one out, `_` stands for `-`."""
    sent: dict[str, str | None] = {
        "X-Broker-Api-Version": "2.15",
        "X-Broker-Api-Originating-Identity": identity(),
        "X-Broker-Api-Request-Identity": str(uuid4()),
        "X-Vcap-Request-Id": str(uuid4()),
        "X-Api-Info-Location": "api.system.example.com/v2/info",
        "Authorization": basic(),
    }
    sent |= {name.replace("_", "-"): value for name, value in changes.items()}
    return {name: value for name, value in sent.items() if value is not None}


def instance_body(space: str = SPACE, **changes: Any) -> dict[str, Any]:
    """Return the body of a provision as Cloud Controller sends it."""
    context = {
        "platform": "cloudfoundry",
        "organization_guid": ORGANIZATION,
        "organization_name": "org",
        "organization_annotations": {},
        "space_guid": space,
        "space_name": "dev",
        "space_annotations": {},
        "instance_name": "my-scheduler",
        "instance_annotations": {},
    }
    ids = {"service_id": SERVICE_ID, "plan_id": PLAN_ID, "organization_guid": ORGANIZATION, "space_guid": space}
    return {**ids, "context": context, "maintenance_info": {"version": "1.0.0"}, **changes}


def binding_body(app: str | None = APP, space: str = SPACE, **changes: Any) -> dict[str, Any]:
    """Return the body of a bind as Cloud Controller sends it; without an app, of a service key."""
    resource = {} if app is None else {"app_guid": app, "space_guid": space, "app_annotations": {}}
    top = {} if app is None else {"app_guid": app}
    ids = {"service_id": SERVICE_ID, "plan_id": PLAN_ID}
    return {**ids, **top, "bind_resource": resource, "context": {"platform": "cloudfoundry"}, **changes}


OFFERING = {"service_id": SERVICE_ID, "plan_id": PLAN_ID, "accepts_incomplete": "true"}


class FakeCloudFoundry:
    """Apps and service instances that exist, our own scopes, and faults."""

    def __init__(self) -> None:
        self.apps = {APP: SPACE}
        self.instances: set[str] = set()
        self.scopes = frozenset({"cloud_controller.admin"})
        self.fault: CannotTellError | None = None
        self.scope_fault: CannotTellError | None = None

    def get_app(self, guid: str) -> App:
        if self.fault:
            raise self.fault
        if guid not in self.apps:
            raise NotFoundError("App not found")
        return App(guid=guid, name="app", space_guid=self.apps[guid])

    def get_service_instance(self, guid: str) -> ServiceInstance:
        if self.fault:
            raise self.fault
        if guid not in self.instances:
            raise NotFoundError("Service instance not found")
        return ServiceInstance(guid=guid, name="my-scheduler", space_guid=SPACE)

    def own_scopes(self) -> frozenset[str]:
        if self.scope_fault:
            raise self.scope_fault
        return self.scopes


class Platform:
    """Requests as Cloud Controller makes them."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def ask(self, method: str, path: str, **options: Any) -> TestResponse:
        """Send anything; by default with the right headers."""
        options.setdefault("headers", headers())
        return self._app.test_client().open(path, method=method, **options)

    def provision(self, guid: str, space: str = SPACE, **changes: Any) -> TestResponse:
        """Create a service instance."""
        body = instance_body(space, **changes)
        return self.ask("PUT", f"/v2/service_instances/{guid}?accepts_incomplete=true", json=body)

    def deprovision(self, guid: str) -> TestResponse:
        """Delete a service instance."""
        return self.ask("DELETE", f"/v2/service_instances/{guid}?{urlencode(OFFERING)}")

    def update(self, guid: str, body: Any) -> TestResponse:
        """Update a service instance."""
        return self.ask("PATCH", f"/v2/service_instances/{guid}?accepts_incomplete=true", json=body)

    def bind(self, instance: str, guid: str, app: str | None = APP, **changes: Any) -> TestResponse:
        """Bind an app, or create a service key."""
        path = f"/v2/service_instances/{instance}/service_bindings/{guid}?accepts_incomplete=true"
        return self.ask("PUT", path, json=binding_body(app, **changes))

    def unbind(self, instance: str, guid: str) -> TestResponse:
        """Unbind, or delete a service key."""
        return self.ask("DELETE", f"/v2/service_instances/{instance}/service_bindings/{guid}?{urlencode(OFFERING)}")

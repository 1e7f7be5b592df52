"""What a user does with services on the cf command line, as the requests that it sends to Cloud Controller.

jane = CfUser(cc.url, uaa.token("jane"))
instance = jane.create_service("scheduler", "standard", "my-scheduler", space_guid)
jane.bind_service(app_guid, instance)
"""

import time
from collections.abc import Mapping
from typing import Any

import requests

_JOB_SECONDS = 90.0
_POLL_SECONDS = 0.02


class CfError(Exception):
    """Cloud Controller said no, at once or in the end of a job."""

    def __init__(self, status: int, code: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail


class CfUser:
    """Somebody with a token."""

    def __init__(self, api: str, token: str) -> None:
        self._api = api
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = f"bearer {token}"

    def create_service_broker(self, name: str, url: str, username: str, password: str) -> str:
        """Register a broker; return its GUID."""
        credentials = {"type": "basic", "credentials": {"username": username, "password": password}}
        self._do("POST", "/v3/service_brokers", {"name": name, "url": url, "authentication": credentials})
        return self._find("/v3/service_brokers", names=name)

    def update_service_broker(self, guid: str, **changes: Any) -> None:
        """Change a broker and have its catalog read again."""
        self._do("PATCH", f"/v3/service_brokers/{guid}", changes)

    def delete_service_broker(self, guid: str) -> None:
        """Forget a broker."""
        self._do("DELETE", f"/v3/service_brokers/{guid}")

    def enable_service_access(self, offering: str) -> None:
        """Let everybody see a service."""
        guid = self._find("/v3/service_offerings", names=offering)
        for plan in self.get("/v3/service_plans", service_offering_guids=guid)["resources"]:
            self._do("POST", f"/v3/service_plans/{plan['guid']}/visibility", {"type": "public"})

    def create_service(self, offering: str, plan: str, name: str, space_guid: str, parameters: Any = None) -> str:
        """Make a service instance; return its GUID."""
        plan_guid = self._find("/v3/service_plans", names=plan, service_offering_names=offering)
        body = {
            "type": "managed",
            "name": name,
            "parameters": parameters,
            "relationships": {"service_plan": _to(plan_guid), "space": _to(space_guid)},
        }
        self._do("POST", "/v3/service_instances", body)
        return self._find("/v3/service_instances", names=name, space_guids=space_guid)

    def delete_service(self, guid: str) -> None:
        """Remove a service instance with its bindings."""
        self._do("DELETE", f"/v3/service_instances/{guid}")

    def purge_service_instance(self, guid: str) -> None:
        """Make Cloud Controller forget an instance without telling the broker."""
        self._do("DELETE", f"/v3/service_instances/{guid}?purge=true")

    def bind_service(self, app_guid: str, instance_guid: str, parameters: Any = None) -> str:
        """Bind an app; return the binding's GUID."""
        relationships = {"service_instance": _to(instance_guid), "app": _to(app_guid)}
        body = {"type": "app", "relationships": relationships, "parameters": parameters}
        self._do("POST", "/v3/service_credential_bindings", body)
        return self._find("/v3/service_credential_bindings", app_guids=app_guid, service_instance_guids=instance_guid)

    def create_service_key(self, instance_guid: str, name: str) -> str:
        """Make a service key; return its GUID."""
        body = {"type": "key", "name": name, "relationships": {"service_instance": _to(instance_guid)}}
        self._do("POST", "/v3/service_credential_bindings", body)
        return self._find("/v3/service_credential_bindings", names=name, service_instance_guids=instance_guid)

    def credentials(self, binding_guid: str) -> dict[str, Any]:
        """Return what a binding or a key holds."""
        found: dict[str, Any] = self.get(f"/v3/service_credential_bindings/{binding_guid}/details")["credentials"]
        return found

    def delete_binding(self, guid: str) -> None:
        """Unbind an app, or delete a service key."""
        self._do("DELETE", f"/v3/service_credential_bindings/{guid}")

    def get(self, path: str, **query: str) -> Any:
        """Return the JSON of a GET.

        Raises CfError.
        """
        return self._send("GET", path, query=query).json()

    def close(self) -> None:
        """Let the connections go."""
        self._session.close()

    def _find(self, path: str, **query: str) -> str:
        found = self.get(path, **query)["resources"]
        if not found:
            raise CfError(404, 10010, f"nothing found at {path} with {query}")
        return str(found[0]["guid"])

    def _do(self, method: str, path: str, body: Any = None) -> None:
        """Send a request and wait for its job, if it starts one."""
        answer = self._send(method, path, body)
        if "Location" not in answer.headers:
            return
        deadline = time.monotonic() + _JOB_SECONDS
        while (job := self._send("GET", answer.headers["Location"]).json())["state"] == "PROCESSING":
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path} has not ended within {_JOB_SECONDS} s")
            time.sleep(_POLL_SECONDS)
        if job["state"] == "FAILED":
            raise CfError(answer.status_code, job["errors"][0]["code"], job["errors"][0]["detail"])

    def _send(
        self, method: str, path: str, body: Any = None, *, query: Mapping[str, str] | None = None
    ) -> requests.Response:
        url = path if path.startswith("http") else self._api + path
        answer = self._session.request(method, url, json=body, params=query, timeout=90)
        if not answer.ok:
            error = answer.json()["errors"][0]
            raise CfError(answer.status_code, error["code"], error["detail"])
        return answer


def _to(guid: str) -> dict[str, Any]:
    return {"data": {"guid": guid}}

"""How Cloud Controller talks to a broker: headers, bodies, time limit, and what each answer means to it.

After the sources of Cloud Controller (lib/services/service_brokers/v2) and the Open Service Broker specification.
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import requests

from scheduler_local.controller.services import Broker

API_VERSION = "2.15"
TIMEOUT_SECONDS = 60.0


class BrokerError(Exception):
    """The broker did not do what it was asked to; `is_unclear` if it may have done so nevertheless."""

    def __init__(self, detail: str, *, title: str, is_unclear: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.title = title
        self.is_unclear = is_unclear


@dataclass(frozen=True, kw_only=True)
class BrokerAnswer:
    """A success."""

    status: int
    body: dict[str, Any]


class BrokerClient:
    """Calls brokers on behalf of users."""

    def __init__(self, api: str, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self._api = api
        self._timeout = timeout
        self._session = requests.Session()
        self._session.trust_env = False  # neither proxies nor a netrc belong between us

    def catalog(self, broker: Broker) -> dict[str, Any]:
        """Return the broker's catalog."""
        return self._call(broker, "GET", "/v2/catalog").body

    def put(self, broker: Broker, path: str, body: Mapping[str, Any], *, user_guid: str) -> BrokerAnswer:
        """Create an instance or a binding.

        Raises BrokerError.
        """
        answer = self._call(broker, "PUT", path, body=body, user_guid=user_guid)
        if answer.status == 202:
            raise BrokerError("The broker wants to be polled, which this stand-in does not do", title="CF-AsyncRefused")
        return answer

    def delete(self, broker: Broker, path: str, query: Mapping[str, str], *, user_guid: str) -> None:
        """Delete an instance or a binding; 410 says that it is gone already, and only 410 does.

        Raises BrokerError.
        """
        self._call(broker, "DELETE", path, query={**query, "accepts_incomplete": "true"}, user_guid=user_guid)

    def _call(
        self,
        broker: Broker,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        user_guid: str = "",
    ) -> BrokerAnswer:
        url = broker.url.rstrip("/") + path
        try:
            response = self._session.request(
                method, url, json=body, params=query, headers=self._headers(user_guid),
                auth=(broker.username, broker.password), timeout=self._timeout, allow_redirects=False,
            )  # fmt: skip
        except requests.Timeout as error:
            detail = f"The request to the service broker timed out: {url}"
            raise BrokerError(detail, title="CF-ServiceBrokerApiTimeout", is_unclear=True) from error
        except requests.RequestException as error:
            detail = f"The service broker could not be reached: {url}"
            raise BrokerError(detail, title="CF-ServiceBrokerApiUnreachable") from error
        return _read(method, url, response)

    def _headers(self, user_guid: str) -> dict[str, str]:
        identity = base64.b64encode(json.dumps({"user_id": user_guid}).encode()).decode()
        headers = {
            "X-Broker-Api-Version": API_VERSION,
            "X-Vcap-Request-Id": str(uuid4()),
            "X-Broker-API-Request-Identity": str(uuid4()),
            "X-Api-Info-Location": f"{self._api}/v2/info",
            "Accept": "application/json",
        }
        if user_guid:
            headers["X-Broker-Api-Originating-Identity"] = f"cloudfoundry {identity}"
        return headers


def _read(method: str, url: str, response: requests.Response) -> BrokerAnswer:
    status, body = response.status_code, _object_in(response)
    if 200 <= status < 300:
        if body is not None:
            return BrokerAnswer(status=status, body=body)
        detail = f"The service broker returned an invalid response for the request to {url}: expected valid JSON object"
        raise BrokerError(detail, title="CF-ServiceBrokerResponseMalformed", is_unclear=status != 200)
    if status == 410 and method == "DELETE":
        return BrokerAnswer(status=status, body=body or {})
    raise _refusal(url, status, body)


def _refusal(url: str, status: int, body: dict[str, Any] | None) -> BrokerError:
    is_unclear = status >= 500 or status == 408
    if status == 401:
        return BrokerError(
            f"Authentication with the service broker failed. Double-check that the username and password are correct: "
            f"{url}",
            title="CF-ServiceBrokerApiAuthenticationFailed",
        )
    description = (body or {}).get("description")
    if isinstance(description, str) and description:
        return BrokerError(
            f"Service broker error: {description}", title="CF-ServiceBrokerRequestRejected", is_unclear=is_unclear
        )
    return BrokerError(
        f"The service broker rejected the request to {url}. Status Code: {status}, Body: {json.dumps(body)}",
        title="CF-ServiceBrokerBadResponse",
        is_unclear=is_unclear,
    )


def _object_in(response: requests.Response) -> dict[str, Any] | None:
    try:
        body = response.json()
    except ValueError:
        return None
    return body if isinstance(body, dict) else None

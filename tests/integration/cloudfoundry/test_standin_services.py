"""The stand-in Cloud Controller drives a broker as the real one does (design: OSB as Cloud Controller speaks it)."""

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from scheduler_local import seed
from scheduler_local.cf_user import CfError, CfUser
from scheduler_local.testing import StandInController, StandInUaa, wait_until

CATALOG = {
    "services": [
        {
            "id": "service-1",
            "name": "scheduler",
            "description": "Runs things",
            "bindable": True,
            "plans": [{"id": "plan-1", "name": "standard", "description": "The plan", "free": True}],
        }
    ]
}
DEV_SPACE = seed.guid_of("space", seed.SPACE)
APP = seed.guid_of("app", seed.APP)


class Broker:
    """Remembers what it is asked and answers as told."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []
        self.catalog: Any = CATALOG
        self.answers: dict[str, tuple[int, bytes]] = {"PUT": (201, b"{}"), "DELETE": (200, b"{}")}
        self.url = ""

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [call for call in self.seen if call["method"] == method]


@pytest.fixture
def broker() -> Iterator[Broker]:
    broker = Broker()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            call = {"method": self.command, "path": url.path, "query": query, "body": body, "headers": self.headers}
            status, answer = broker.answers.get(self.command, (200, json.dumps(broker.catalog).encode()))
            broker.seen.append(call)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_PUT = do_DELETE = answer  # noqa: N815  the library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        broker.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield broker
        server.shutdown()
        thread.join()


@pytest.fixture
def admin(cc: StandInController, uaa: StandInUaa) -> Iterator[CfUser]:
    user = CfUser(cc.url, uaa.admin_token())
    yield user
    user.close()


@pytest.fixture
def developer(cc: StandInController, uaa: StandInUaa) -> Iterator[CfUser]:
    user = CfUser(cc.url, uaa.token())
    yield user
    user.close()


@pytest.fixture
def market(admin: CfUser, broker: Broker) -> Broker:
    """The broker, registered and open to all."""
    admin.create_service_broker("scheduler", broker.url, "user", "pass")
    admin.enable_service_access("scheduler")
    broker.seen.clear()
    return broker


def test_a_broker_is_registered_by_its_catalog(admin: CfUser, broker: Broker) -> None:
    admin.create_service_broker("scheduler", broker.url, "user", "pass")
    (call,) = broker.seen
    assert (call["method"], call["path"]) == ("GET", "/v2/catalog")
    assert call["headers"]["X-Broker-Api-Version"] == "2.15"
    assert call["headers"]["Authorization"] == "Basic " + base64.b64encode(b"user:pass").decode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bindable": None}, "bindable"),
        ({"plans": []}, "At least one plan"),
        ({"description": ""}, "description"),
        ({"plans": CATALOG["services"][0]["plans"] * 2}, "Plan ids must be unique"),  # type: ignore[operator]
    ],
)
def test_a_broker_with_an_invalid_catalog_is_not_registered(
    admin: CfUser, broker: Broker, change: dict[str, Any], words: str
) -> None:
    broker.catalog = {"services": [{**CATALOG["services"][0], **change}]}
    with pytest.raises(CfError, match=words):
        admin.create_service_broker("scheduler", broker.url, "user", "pass")
    assert admin.get("/v3/service_brokers")["resources"] == []


def test_a_service_is_not_to_be_had_before_its_access_is_enabled(
    admin: CfUser, developer: CfUser, broker: Broker
) -> None:
    admin.create_service_broker("scheduler", broker.url, "user", "pass")
    with pytest.raises(CfError):
        developer.create_service("scheduler", "standard", "mine", DEV_SPACE)


def test_a_catalog_read_again_keeps_its_plans(admin: CfUser, developer: CfUser, market: Broker) -> None:
    developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    guid = admin.get("/v3/service_brokers")["resources"][0]["guid"]
    admin.update_service_broker(guid, url=market.url)
    developer.delete_service(developer.get("/v3/service_instances")["resources"][0]["guid"])
    admin.delete_service_broker(guid)


def test_an_instance_is_provisioned_with_all_that_cloud_controller_tells(developer: CfUser, market: Broker) -> None:
    guid = developer.create_service("scheduler", "standard", "mine", DEV_SPACE, {"a": 1})
    (call,) = market.seen
    organization = seed.guid_of("organization", seed.ORGANIZATION)
    assert (call["method"], call["path"]) == ("PUT", f"/v2/service_instances/{guid}")
    assert call["query"] == {"accepts_incomplete": "true"}
    assert call["body"] == {
        "service_id": "service-1",
        "plan_id": "plan-1",
        "organization_guid": organization,
        "space_guid": DEV_SPACE,
        "context": {
            "platform": "cloudfoundry",
            "organization_guid": organization,
            "organization_name": seed.ORGANIZATION,
            "organization_annotations": {},
            "space_guid": DEV_SPACE,
            "space_name": seed.SPACE,
            "space_annotations": {},
            "instance_annotations": {},
            "instance_name": "mine",
        },
        "parameters": {"a": 1},
    }
    platform, identity = call["headers"]["X-Broker-Api-Originating-Identity"].split()
    assert platform == "cloudfoundry"
    assert json.loads(base64.b64decode(identity)) == {"user_id": seed.user_guid(seed.DEVELOPER)}
    assert call["headers"]["X-Broker-API-Request-Identity"]
    assert call["headers"]["X-Vcap-Request-Id"]
    assert developer.get(f"/v3/service_instances/{guid}")["last_operation"]["state"] == "succeeded"


def test_an_app_is_bound_and_unbound(developer: CfUser, market: Broker) -> None:
    instance = developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    market.answers["PUT"] = (201, b'{"credentials":{"api_url":"x"}}')
    binding = developer.bind_service(APP, instance)
    call = market.calls("PUT")[-1]
    assert call["path"] == f"/v2/service_instances/{instance}/service_bindings/{binding}"
    assert call["body"]["app_guid"] == APP
    assert call["body"]["bind_resource"] == {"app_guid": APP, "space_guid": DEV_SPACE, "app_annotations": {}}
    assert "instance_name" not in call["body"]["context"]
    assert developer.credentials(binding) == {"api_url": "x"}
    developer.delete_binding(binding)
    (gone,) = market.calls("DELETE")
    assert gone["path"] == call["path"]
    assert gone["query"] == {"service_id": "service-1", "plan_id": "plan-1", "accepts_incomplete": "true"}
    assert gone["body"] is None


def test_a_service_key_binds_no_app(developer: CfUser, market: Broker) -> None:
    instance = developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    developer.create_service_key(instance, "key-1")
    body = market.calls("PUT")[-1]["body"]
    assert "app_guid" not in body
    assert body["bind_resource"] == {"credential_client_id": "cc_service_key_client"}


def test_deleting_an_instance_unbinds_everything_first(developer: CfUser, market: Broker) -> None:
    instance = developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    developer.bind_service(APP, instance)
    developer.create_service_key(instance, "key-1")
    developer.delete_service(instance)
    paths = [call["path"] for call in market.calls("DELETE")]
    assert ["service_bindings" in path for path in paths] == [True, True, False]
    with pytest.raises(CfError, match="Service instance not found"):
        developer.get(f"/v3/service_instances/{instance}")


def test_purging_tells_the_broker_nothing(admin: CfUser, developer: CfUser, market: Broker) -> None:
    instance = developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    admin.purge_service_instance(instance)
    assert market.calls("DELETE") == []
    assert developer.get("/v3/service_instances")["resources"] == []


@pytest.mark.parametrize("status", [200, 410])
def test_a_delete_ends_with_success_or_gone(developer: CfUser, market: Broker, status: int) -> None:
    instance = developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    market.answers["DELETE"] = (status, b"{}")
    developer.delete_service(instance)
    assert developer.get("/v3/service_instances")["resources"] == []


def test_a_delete_answered_by_not_found_keeps_the_instance(developer: CfUser, market: Broker) -> None:
    instance = developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    market.answers["DELETE"] = (404, b'{"description":"never heard of it"}')
    with pytest.raises(CfError, match="never heard of it"):
        developer.delete_service(instance)
    assert developer.get(f"/v3/service_instances/{instance}")["last_operation"]["state"] == "failed"


def test_a_refusal_is_shown_in_the_brokers_words_and_not_cleaned_up_after(
    cc: StandInController, developer: CfUser, market: Broker
) -> None:
    cc.mitigate_fast(minute_seconds=0.01)
    market.answers["PUT"] = (409, b'{"description":"one is enough"}')
    with pytest.raises(CfError, match=r"^Service broker error: one is enough$"):
        developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    market.answers["PUT"] = (500, b"{}")
    with pytest.raises(CfError, match="Status Code: 500"):
        developer.create_service("scheduler", "standard", "other", DEV_SPACE)
    wait_until(lambda: market.calls("DELETE"))
    refused, failed = market.calls("PUT")
    assert {call["path"] for call in market.calls("DELETE")} == {failed["path"]}
    assert refused["path"] != failed["path"]


@pytest.mark.parametrize("answer", [(500, b"oops"), (503, b'{"description":"later"}'), (201, b"[]"), (201, b"")])
def test_after_an_unclear_answer_the_broker_is_told_to_delete_until_it_says_gone(
    cc: StandInController, developer: CfUser, market: Broker, answer: tuple[int, bytes]
) -> None:
    cc.mitigate_fast(minute_seconds=0.005)
    market.answers |= {"PUT": answer, "DELETE": (500, b"")}
    with pytest.raises(CfError):
        developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    wait_until(lambda: len(market.calls("DELETE")) >= 3)
    market.answers["DELETE"] = (410, b"{}")
    count = len(market.calls("DELETE"))
    wait_until(lambda: len(market.calls("DELETE")) > count)
    assert {call["path"] for call in market.calls("DELETE")} == {market.calls("PUT")[0]["path"]}


def test_a_broker_that_is_away_changes_nothing(admin: CfUser) -> None:
    with pytest.raises(CfError, match="could not be reached"):
        admin.create_service_broker("scheduler", "http://127.0.0.1:9", "user", "pass")


def test_an_app_of_another_space_is_not_bound(cc: StandInController, admin: CfUser, market: Broker) -> None:
    instance = admin.create_service("scheduler", "standard", "mine", DEV_SPACE)
    other = cc.add_app(seed.OTHER_SPACE)
    with pytest.raises(CfError, match="different spaces"):
        admin.bind_service(other.guid, instance)


def test_strangers_see_no_instances(cc: StandInController, uaa: StandInUaa, developer: CfUser, market: Broker) -> None:
    instance = developer.create_service("scheduler", "standard", "mine", DEV_SPACE)
    stranger = CfUser(cc.url, uaa.token(seed.STRANGER))
    with pytest.raises(CfError, match="Service instance not found"):
        stranger.get(f"/v3/service_instances/{instance}")
    stranger.close()

"""The broker as the process that it is: off and on, through a lost database, to its end; and what its log holds."""

import base64
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import requests

from scheduler_broker.catalog import CATALOG
from scheduler_broker.wsgi import READ_TIMEOUT_SECONDS
from scheduler_local import seed
from scheduler_local.testing import StandInController, StandInUaa
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.processes import Service, Spawn
from tests.fixtures.session import free_port, wait_until
from tests.integration.broker.platform import OFFERING, PASSWORD, USERNAME, binding_body, headers, instance_body

BROKER = {
    "SCHEDULER_BROKER_ENABLED": "true",
    "SCHEDULER_BROKER_USERNAME": USERNAME,
    "SCHEDULER_BROKER_PASSWORD": PASSWORD,
    "SCHEDULER_BROKER_API_URL": "https://scheduler.system.example.com",
}
CLOUD_CONTROLLERS_PATIENCE_SECONDS = 60
INSTANCE = "/v2/service_instances/one"
BINDING = f"{INSTANCE}/service_bindings/binding"


class Running:
    """A broker's process and a way to talk to it."""

    def __init__(self, service: Service, port: int) -> None:
        self.service = service
        self.port = port
        self._session = requests.Session()
        self._session.trust_env = False

    def ask(self, method: str, path: str, sent: Mapping[str, str] | None = None, **options: Any) -> requests.Response:
        url = f"http://127.0.0.1:{self.port}{path}"
        return self._session.request(method, url, headers=headers() if sent is None else sent, timeout=30, **options)

    def raw(self, request: bytes) -> bytes:
        """Send bytes and return the beginning of the answer."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
            return connection.recv(65_536)


StartBroker = Callable[..., Running]


@pytest.fixture
def start(spawn: Spawn, uaa: StandInUaa, cc: StandInController) -> StartBroker:
    """Start a broker on this database, with these variables beside the usual ones."""

    def run(database_url: str, **variables: str) -> Running:
        port = free_port()
        env = {
            "DATABASE_URL": database_url,
            "CF_ENDPOINT": cc.url,
            "UAA_ENDPOINT": uaa.url,
            "CLIENT_ID": seed.CLIENT_ID,
            "CLIENT_SECRET": seed.CLIENT_SECRET,
            "SCHEDULER_PORT": str(port),
            **variables,
        }
        return Running(spawn("broker", env=env), port)

    return run


@pytest.mark.parametrize("variables", [{}, {"SCHEDULER_BROKER_ENABLED": "false"}])
def test_a_broker_that_is_off_answers_404_under_v2_and_stays_up(
    start: StartBroker, database_url: str, variables: dict[str, str]
) -> None:
    # checklist 26, 27
    broker = start(database_url, **variables)
    for method, path in (
        ("GET", "/v2/catalog"),
        ("PUT", INSTANCE),
        ("DELETE", BINDING),
        ("GET", "/v2"),
        ("GET", "/v2/x"),
    ):
        for sent in ({}, headers(), headers(Authorization="Basic wrong")):
            answer = broker.ask(method, path, sent)
            assert answer.status_code == 404
            assert answer.json()["description"]
    assert broker.ask("GET", "/", {}).json() == {}
    assert broker.service.ready()
    assert broker.service.stop() == 0


def test_a_broker_that_is_on_serves_and_says_so_without_its_secrets(
    start: StartBroker, database_url: str, cc: StandInController, uaa: StandInUaa
) -> None:
    # checklist 28, 46, 47, 48, 49, 50, 184
    broker = start(database_url, LOG_LEVEL="trace", **BROKER)
    app = cc.add_app(seed.SPACE)
    assert broker.ask("GET", "/v2/catalog").json() == CATALOG
    assert broker.ask("PUT", INSTANCE, json=instance_body(app.space_guid)).status_code == 201
    assert broker.ask("PUT", BINDING, json=binding_body(app.guid, app.space_guid)).status_code == 201
    assert broker.ask("DELETE", BINDING, params=OFFERING).status_code == 200
    assert broker.ask("PUT", "/v2/service_instances/two", json=instance_body(app.space_guid)).status_code == 201
    assert broker.ask("GET", "/v2/catalog", headers(Authorization="Basic d3Jvbmc6c2VjcmV0")).status_code == 401
    token = uaa.admin_token()
    assert broker.ask("GET", "/v2/catalog", headers(Authorization=f"Bearer {token}")).status_code == 401
    (begun,) = broker.service.logged(action="start")
    assert begun["broker_user"] == USERNAME
    assert begun["broker_api_url"] == BROKER["SCHEDULER_BROKER_API_URL"]
    assert begun["broker_require_binding"] is False
    actions = {"provisioned", "bound", "unbound", "instance_replaced", "broker_unauthorized", "schedules_paused"}
    assert all(broker.service.logged(action=action) for action in actions)
    output = broker.service.output()
    basic = base64.b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode()
    for secret in (PASSWORD, basic, "d3Jvbmc6c2VjcmV0", token, seed.CLIENT_SECRET):
        assert secret not in output
    assert (
        'scheduler_broker_requests_total{operation="provision",status="201"} 2.0' in broker.service.get("/metrics")[1]
    )


def test_the_password_is_not_told_when_the_start_is_refused(
    spawn: Spawn, database_url: str, uaa: StandInUaa, cc: StandInController
) -> None:
    # checklist 32, 34, 49
    env = {**BROKER, "DATABASE_URL": database_url, "CF_ENDPOINT": cc.url, "UAA_ENDPOINT": uaa.url}
    short = {"SCHEDULER_BROKER_PASSWORD": "fifteen-letters", "SCHEDULER_BROKER_USERNAME": " white"}
    service = spawn("broker", env={**env, "CLIENT_ID": "x", "CLIENT_SECRET": "y", **short}, wait=False)
    assert service.wait(20) == 2
    output = service.output()
    assert "SCHEDULER_BROKER_PASSWORD" in output
    assert "SCHEDULER_BROKER_USERNAME" in output
    assert "fifteen-letters" not in output


def test_while_the_database_is_away_nothing_is_made_and_afterwards_everything_is_as_before(
    start: StartBroker, own_postgres: PostgresServer
) -> None:
    # checklist 225
    broker = start(own_postgres.create_database(), **BROKER)
    assert broker.ask("PUT", INSTANCE, json=instance_body("space")).status_code == 201
    own_postgres.kill()
    for answer in (
        broker.ask("PUT", "/v2/service_instances/two", json=instance_body("another space")),
        broker.ask("DELETE", INSTANCE, params=OFFERING),
        broker.ask("PUT", BINDING, json=binding_body(None)),
    ):
        assert answer.status_code == 503
        assert answer.json()["description"]
    assert broker.ask("GET", "/", {}).status_code == 200
    assert broker.ask("GET", "/v2/catalog").status_code == 200
    own_postgres.start()
    wait_until(broker.service.ready, within=20, what="the broker is ready again")
    assert broker.ask("PUT", INSTANCE, json=instance_body("space")).status_code == 200
    assert broker.ask("DELETE", "/v2/service_instances/two", params=OFFERING).status_code == 410


_CHUNKED = b"PUT /v2/service_instances/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
_HEAD = "\r\n".join(f"{name}: {value}" for name, value in headers().items()).encode()


_ODD_REQUESTS = [
    b"\x00\xff\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /v2/catalog HTTP/1.1\r\nHost: x\r\nX-Broker-API-Version : 2.15\r\n\r\n",
    b"GET /v2/catalog HTTP/1.1\r\nHost: x\r\nX-Broker-API-Version: 2.\xb9\xb3\r\n" + b"\r\n",
    b"GET /v2/catalog HTTP/1.1\r\nHost: x\r\nX-Broker-API-Version: " + b"9" * 5_000 + b".13\r\n\r\n",
    b"PUT /v2/service_instances/x HTTP/1.1\r\nHost: x\r\n" + _HEAD + b"\r\nContent-Length: -1\r\n\r\n",
    b"PUT /v2/service_instances/x HTTP/1.1\r\nHost: x\r\n" + _HEAD + b"\r\nContent-Length: 9999999999\r\n\r\n",
    b"PUT /v2/service_instances/x HTTP/1.1\r\nHost: x\r\n" + _HEAD + b"\r\nContent-Length: 10\r\n\r\n{}",
    _CHUNKED + _HEAD + b"\r\n\r\nzz\r\n",
    _CHUNKED + _HEAD + b"\r\n\r\n200000\r\n" + b"x" * 0x200000 + b"\r\n0\r\n\r\n",
    b"GET /v2/" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
]


def test_no_request_makes_the_broker_fail(start: StartBroker, database_url: str) -> None:
    broker = start(database_url, **BROKER)
    for request in _ODD_REQUESTS:
        try:
            answer = broker.raw(request)
        except OSError:
            answer = b""  # the rest of a request that is refused is not read
        assert not answer or answer.split()[1].startswith(b"4"), (request[:200], answer[:200])
        assert broker.ask("GET", "/v2/catalog").status_code == 200
    assert broker.service.logged(action="broker_request_failed") == []


def test_a_cloud_controller_that_hangs_is_given_up_before_it_gives_us_up(
    start: StartBroker, database_url: str, cc: StandInController
) -> None:
    # checklist 231
    broker = start(database_url, **BROKER)
    app = cc.add_app(seed.SPACE)
    broker.ask("PUT", INSTANCE, json=instance_body(app.space_guid))
    cc.fault("slow", path="/v3/", seconds=READ_TIMEOUT_SECONDS + 3)
    began = time.monotonic()
    refused = broker.ask("PUT", BINDING, json=binding_body(app.guid, app.space_guid))
    assert refused.status_code == 502
    occupied = broker.ask("PUT", "/v2/service_instances/two", json=instance_body(app.space_guid))
    assert occupied.status_code == 409
    assert time.monotonic() - began < CLOUD_CONTROLLERS_PATIENCE_SECONDS


def test_a_request_that_is_under_way_is_finished_when_the_broker_is_asked_to_end(
    start: StartBroker, database_url: str, cc: StandInController
) -> None:
    broker = start(database_url, **BROKER)
    app = cc.add_app(seed.SPACE)
    broker.ask("PUT", INSTANCE, json=instance_body(app.space_guid))
    cc.fault("slow", path="/v3/apps/", seconds=1.5)
    with socket.create_connection(("127.0.0.1", broker.port), timeout=20) as connection:
        body = requests.Request("PUT", "http://x", json=binding_body(app.guid, app.space_guid)).prepare().body
        assert isinstance(body, bytes)
        head = f"PUT {BINDING} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n".encode() + _HEAD
        connection.sendall(head + b"\r\n\r\n" + body)
        wait_until(lambda: cc.requests(path="^/v3/apps/"), within=10, what="the app is being asked about")
        assert broker.service.stop() == 0
        assert connection.recv(1_000).startswith(b"HTTP/1.1 201")

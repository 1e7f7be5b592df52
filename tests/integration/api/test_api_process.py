"""The API as the process that it is: how it starts or refuses to, what it serves besides, how it ends."""

import json
import socket
import threading
from collections.abc import Callable
from typing import Any

import psycopg2
import pytest
import requests

from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.processes import Service, Spawn
from tests.fixtures.session import free_port, wait_until
from tests.integration.api.conftest import BROKER

_REQUIRED = ("DATABASE_URL", "CF_ENDPOINT", "UAA_ENDPOINT", "CLIENT_ID", "CLIENT_SECRET")


class Running:
    """An API's process and a way to talk to it."""

    def __init__(self, service: Service, port: int, token: str) -> None:
        self.service = service
        self.url = f"http://127.0.0.1:{port}"
        self.port = port
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.headers["Authorization"] = f"bearer {token}"

    def ask(self, method: str, path: str, **options: Any) -> requests.Response:
        """Send a request as the developer."""
        return self.session.request(method, f"{self.url}{path}", timeout=30, **options)


StartApi = Callable[..., Running]


@pytest.fixture
def variables(database_url: str, uaa: StandInUaa, cc: StandInController) -> dict[str, str]:
    """What the process needs."""
    return {
        "DATABASE_URL": database_url,
        "CF_ENDPOINT": cc.url,
        "UAA_ENDPOINT": uaa.url,
        "CLIENT_ID": seed.CLIENT_ID,
        "CLIENT_SECRET": seed.CLIENT_SECRET,
    }


@pytest.fixture
def start(spawn: Spawn, variables: dict[str, str], uaa: StandInUaa) -> StartApi:
    """Start the API, with these variables beside the usual ones."""

    def run(**more: str) -> Running:
        port = free_port()
        service = spawn("api", env={**variables, "SCHEDULER_PORT": str(port), **more})
        return Running(service, port, uaa.token())

    return run


def test_it_refuses_to_start_and_names_everything_that_is_missing(spawn: Spawn) -> None:
    # checklist 1, 2, 3, 4, 5, 6
    service = spawn("api", env={"CLIENT_ID": ""}, wait=False)
    assert service.wait(within=30) == 2
    told = [line["message"] for line in service.logged(action="settings_rejected", level="error")]
    assert len(told) == len(_REQUIRED)
    for name in _REQUIRED:
        assert any(name in sentence for sentence in told)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({**BROKER, "SCHEDULER_BROKER_PASSWORD": "fifteen-letters"}, "SCHEDULER_BROKER_PASSWORD"),
        ({"SCHEDULER_BROKER_REQUIRE_BINDING": "maybe"}, "SCHEDULER_BROKER_REQUIRE_BINDING"),
    ],
    ids=["password", "boolean"],
)
def test_it_refuses_to_start_with_broker_settings_that_do_not_fit(
    spawn: Spawn, variables: dict[str, str], wrong: dict[str, str], named: str
) -> None:
    # checklist 32, 42, 49
    service = spawn("api", env={**variables, **wrong}, wait=False)
    assert service.wait(within=30) == 2
    assert named in service.logged(action="settings_rejected")[0]["message"]
    assert "fifteen-letters" not in service.output()


def test_it_migrates_an_empty_database_before_it_serves(spawn: Spawn, empty_database_url: str, variables: Any) -> None:
    # checklist 52
    port = free_port()
    env = {**variables, "DATABASE_URL": empty_database_url, "SCHEDULER_PORT": str(port)}
    spawn("api", env=env)
    spawn("api", env={**env, "SCHEDULER_PORT": str(free_port())})
    connection = psycopg2.connect(empty_database_url)
    cursor = connection.cursor()
    cursor.execute("SELECT count(*) FROM jobs")
    assert cursor.fetchone() == (0,)
    connection.close()


def test_it_says_what_it_starts_with_and_no_secret_whatever_the_level(
    start: StartApi, cc: StandInController, uaa: StandInUaa
) -> None:
    # checklist 46, 47, 48, 49, 50
    api = start(LOG_LEVEL="trace", SCHEDULER_ENCRYPTION_KEYS="a" * 43 + "=", SCHEDULER_WORKERS="9", **BROKER)
    app = cc.add_app()
    call = {"name": "n", "url": "https://example.com/?token=in-the-url", "auth_header": "bearer of-the-call"}
    guid = api.ask("POST", f"/calls?app_guid={app.guid}", json=call).json()["guid"]
    api.ask("GET", f"/calls/{guid}", headers={"Authorization": "Basic YnJva2VyOng="})
    api.ask("POST", f"/calls/{guid}/execute")
    begun = api.service.wait_logged(action="start")
    assert (begun["broker_user"], begun["broker_api_url"]) == ("broker", "https://scheduler.example.com")
    assert begun["broker_require_binding"] is False
    assert begun["workers"] == 20
    assert "SCHEDULER_WORKERS" in api.service.wait_logged(action="settings_warning")["message"]
    token = str(api.session.headers["Authorization"]).split()[1]
    output = api.service.output()
    for secret in (BROKER["SCHEDULER_BROKER_PASSWORD"], seed.CLIENT_SECRET, "of-the-call", token, "YnJva2VyOng=",
                   "a" * 43, "in-the-url"):  # fmt: skip
        assert str(secret) not in output


def test_it_listens_where_it_is_told_and_serves_the_broker_nowhere(start: StartApi) -> None:
    # checklist 8, 26, 27, 63
    api = start()
    answer = requests.get(f"{api.url}/", timeout=10)
    assert (answer.status_code, answer.json()) == (200, {})
    assert requests.get(f"{api.url}/v2/catalog", timeout=10).status_code == 404


def test_the_internal_port_shows_health_numbers_and_the_contract(start: StartApi) -> None:
    api = start()
    api.ask("GET", "/jobs")
    assert api.service.get("/healthz")[0] == api.service.get("/readyz")[0] == 200
    status, numbers = api.service.get("/metrics")
    assert status == 200
    assert 'scheduler_api_requests_total{method="GET",route="/jobs",status="403"} 1.0' in numbers
    status, contract = api.service.get("/openapi.json")
    assert (status, json.loads(contract)["openapi"]) == (200, "3.1.0")
    status, page = api.service.get("/docs")
    assert status == 200
    assert "openapi.json" in page
    assert "https://" not in page  # it needs nothing from elsewhere
    assert requests.get(f"{api.url}/openapi.json", timeout=10).status_code == 401


@pytest.mark.parametrize("chunked", ["whole", "chunked"])
def test_ten_megabytes_are_refused_and_the_connection_stays_usable(start: StartApi, app: MadeApp, chunked: str) -> None:
    api = start()
    body = b'{"name":"' + b"x" * 10_000_000 + b'"}'
    data = iter([body[:5_000_000], body[5_000_000:]]) if chunked == "chunked" else body
    headers = {"Content-Type": "application/json"}
    answer = api.ask("POST", f"/jobs?app_guid={app.guid}", data=data, headers=headers)
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (413, "body_too_large")
    assert api.ask("GET", f"/jobs?space_guid={app.space_guid}").json()["resources"] == []


@pytest.mark.parametrize(
    "request_line",
    [b"GET //jobs HTTP/1.1", b"GET /%2F HTTP/1.1", b"GET /../ HTTP/1.1", b"GET http://x/jobs HTTP/1.1",
     b"GET /\xff\xfe HTTP/1.1", b"GET /jobs?" + b"a" * 8_000 + b" HTTP/1.1", b"BREW /jobs HTTP/1.1"],
    ids=lambda line: ascii(line[:20]),
)  # fmt: skip
def test_odd_request_lines_need_a_token_like_any_other(start: StartApi, request_line: bytes) -> None:
    # checklist 64, 73
    api = start()
    with socket.create_connection(("127.0.0.1", api.port), timeout=10) as connection:
        connection.sendall(request_line + b"\r\nHost: scheduler\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith((b"HTTP/1.1 401", b"HTTP/1.1 400")), answer[:200]


def test_what_is_under_way_is_answered_before_it_ends(start: StartApi, cc: StandInController, app: MadeApp) -> None:
    # checklist 308
    api = start()
    assert api.ask("GET", f"/jobs?space_guid={app.space_guid}").status_code == 200
    cc.fault("slow", path="/v3/roles", seconds=1.5, count=1)
    answers: list[int] = []
    asking = threading.Thread(
        target=lambda: answers.append(api.ask("GET", f"/jobs?space_guid={app.space_guid}").status_code)
    )
    before = len(cc.requests(path="/v3/roles"))
    asking.start()
    wait_until(lambda: len(cc.requests(path="/v3/roles")) > before or not asking.is_alive(), within=10, what="it asks")
    assert api.service.stop() == 0
    asking.join(10)
    assert answers == [200]

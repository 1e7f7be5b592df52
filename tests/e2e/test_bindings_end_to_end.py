"""Bindings from Cloud Controller through the broker to what runs, and what is cleaned up when answers get lost."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import Engine, select

from scheduler.store.tables import service_bindings, service_instances
from scheduler_broker.catalog import PLAN_ID, SERVICE_ID
from scheduler_local import seed
from scheduler_local.cf_user import CfError, CfUser
from scheduler_local.testing import StandInController, StandInUaa, Start, start_controller
from tests.fixtures.processes import Spawn
from tests.fixtures.rows import Rows
from tests.fixtures.session import free_port, wait_until
from tests.fixtures.suite import BROKER_PASSWORD, BROKER_USERNAME, Endpoint, StartSuite, Suite

DEV_SPACE = seed.guid_of("space", seed.SPACE)
APP = seed.guid_of("app", seed.APP)
EVERY_SECOND = "* * * * * *"
BROKER_TIMEOUT_SECONDS = 1.0
MITIGATION_MINUTE_SECONDS = 0.05


class Between:
    """Stands between Cloud Controller and a broker and lets answers go wrong, after the broker has done its work."""

    def __init__(self, broker_url: str) -> None:
        self.harm: Callable[[str], str] = lambda _: ""  # method -> "", "500", "late" or "garbled"
        self.seen: list[tuple[str, str, int]] = []  # method, path, the broker's own status
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler(broker_url))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.closed = threading.Event()

    def close(self) -> None:
        """Answer nobody any more."""
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def statuses(self, method: str) -> list[int]:
        """Return what the broker has answered to such requests."""
        return [status for seen, _path, status in self.seen if seen == method]

    def _handler(self, broker_url: str) -> type[BaseHTTPRequestHandler]:
        between = self

        class Handler(BaseHTTPRequestHandler):
            def forward(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                sent = {name: value for name, value in self.headers.items() if name.lower() != "host"}
                with requests.Session() as session:
                    session.trust_env = False
                    answer = session.request(self.command, broker_url + self.path, headers=sent, data=body, timeout=30)
                between.seen.append((self.command, self.path.partition("?")[0], answer.status_code))
                self._answer(answer, between.harm(self.command))

            do_GET = do_PUT = do_DELETE = forward  # noqa: N815 - the base class looks for these names

            def _answer(self, answer: requests.Response, harm: str) -> None:
                if harm == "late":
                    between.closed.wait(BROKER_TIMEOUT_SECONDS * 2)
                    self.close_connection = True
                    return
                content = b"<html>" if harm == "garbled" else answer.content
                self.send_response(500 if harm == "500" else answer.status_code)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler


@pytest.fixture
def impatient_cc(uaa: StandInUaa, tmp_path: Path) -> Iterator[StandInController]:
    """A Cloud Controller that waits for brokers for a second, and whose minutes are short."""
    arguments = ("--broker-timeout", str(BROKER_TIMEOUT_SECONDS))
    with start_controller(uaa, Start(arguments=arguments, log=tmp_path / "cc.log")) as controller:
        controller.mitigate_fast(minute_seconds=MITIGATION_MINUTE_SECONDS)
        yield controller


@pytest.fixture
def between(spawn: Spawn, database_url: str, uaa: StandInUaa, impatient_cc: StandInController) -> Iterator[Between]:
    between = Between(_start_brokers(spawn, database_url, uaa, impatient_cc)[0])
    yield between
    between.close()


@pytest.fixture
def market(between: Between, impatient_cc: StandInController, uaa: StandInUaa) -> Iterator[CfUser]:
    """An admin of a Cloud Foundry that reaches the broker through what is between."""
    user = CfUser(impatient_cc.url, uaa.admin_token())
    user.create_service_broker("scheduler", between.url, BROKER_USERNAME, BROKER_PASSWORD)
    user.enable_service_access("scheduler")
    yield user
    user.close()


def _start_brokers(
    spawn: Spawn, database_url: str, uaa: StandInUaa, cc: StandInController, *, count: int = 1
) -> list[str]:
    ports = [free_port() for _ in range(count)]
    services = [
        spawn(
            "broker",
            env={
                "DATABASE_URL": database_url,
                "CF_ENDPOINT": cc.url,
                "UAA_ENDPOINT": uaa.url,
                "CLIENT_ID": seed.CLIENT_ID,
                "CLIENT_SECRET": seed.CLIENT_SECRET,
                "SCHEDULER_PORT": str(port),
                "SCHEDULER_BROKER_ENABLED": "true",
                "SCHEDULER_BROKER_USERNAME": BROKER_USERNAME,
                "SCHEDULER_BROKER_PASSWORD": BROKER_PASSWORD,
                "SCHEDULER_BROKER_API_URL": "https://scheduler.example.com",
            },
            wait=False,
        )
        for port in ports
    ]
    for service in services:
        service.wait_ready(60)
    return [f"http://127.0.0.1:{port}" for port in ports]


def _stored(engine: Engine) -> list[int]:
    with engine.connect() as connection:
        return [len(connection.execute(select(table)).all()) for table in (service_instances, service_bindings)]


@pytest.mark.parametrize("harm", ["500", "late", "garbled"])
def test_an_instance_whose_answer_got_lost_is_cleaned_up(
    market: CfUser, between: Between, engine: Engine, harm: str
) -> None:
    between.harm = lambda method: harm if method == "PUT" else ""
    with pytest.raises(CfError):
        market.create_service("scheduler", "standard", "lost", DEV_SPACE)
    assert between.statuses("PUT") == [201]
    wait_until(lambda: between.statuses("DELETE"), within=20, what="Cloud Controller cleans up")
    assert between.statuses("DELETE") == [200]
    assert _stored(engine) == [0, 0]
    between.harm = lambda _: ""
    (failed,) = market.get("/v3/service_instances")["resources"]
    market.delete_service(failed["guid"])  # checklist 219: gone already, which must not keep it
    market.create_service("scheduler", "standard", "again", DEV_SPACE)


@pytest.mark.parametrize("harm", ["500", "late", "garbled"])
def test_a_binding_whose_answer_got_lost_is_cleaned_up(
    market: CfUser, between: Between, engine: Engine, harm: str
) -> None:
    instance = market.create_service("scheduler", "standard", "mine", DEV_SPACE)
    between.harm = lambda method: harm if method == "PUT" else ""
    with pytest.raises(CfError):
        market.bind_service(APP, instance)
    wait_until(lambda: between.statuses("DELETE"), within=20, what="Cloud Controller cleans up")
    assert between.statuses("DELETE") == [200]
    assert _stored(engine) == [1, 0]


def test_cleaning_up_is_repeated_until_the_broker_says_that_it_is_gone(
    market: CfUser, between: Between, engine: Engine
) -> None:
    harms = iter(["500", "500", ""])  # of the PUT and of the DELETEs that follow
    between.harm = lambda _: next(harms, "")
    with pytest.raises(CfError):
        market.create_service("scheduler", "standard", "lost", DEV_SPACE)
    # checklist 210, 219: the first one has deleted it, and its answer got lost as well
    wait_until(lambda: len(between.statuses("DELETE")) == 2, within=20, what="Cloud Controller cleans up again")
    assert between.statuses("DELETE") == [200, 410]
    assert _stored(engine) == [0, 0]


def test_cleaning_up_what_the_broker_has_never_seen_does_no_harm(
    market: CfUser, between: Between, engine: Engine
) -> None:
    market.create_service("scheduler", "standard", "mine", DEV_SPACE)
    before = between.statuses("DELETE")
    for path in ("/v2/service_instances/never", "/v2/service_instances/never/service_bindings/never"):
        answer = requests.delete(
            between.url + path,
            params={
                "service_id": SERVICE_ID,
                "plan_id": PLAN_ID,
            },
            headers={"X-Broker-API-Version": "2.15"},
            auth=(BROKER_USERNAME, BROKER_PASSWORD),
            timeout=30,
        )
        assert answer.status_code == 410
    assert before == []
    assert _stored(engine) == [1, 0]


def test_two_brokers_make_one_instance_of_twenty_requests_for_a_space(
    spawn: Spawn, database_url: str, uaa: StandInUaa, cc: StandInController, engine: Engine
) -> None:
    # checklist 198; a Cloud Controller that cannot be asked leaves doubt, so nobody is replaced
    cc.fault("server_error", path="/v3/service_instances/")
    urls = _start_brokers(spawn, database_url, uaa, cc, count=2)
    body = {
        "service_id": SERVICE_ID,
        "plan_id": PLAN_ID,
        "organization_guid": "organization",
        "space_guid": DEV_SPACE,
    }

    def provision(number: int) -> int:
        with requests.Session() as session:
            session.trust_env = False
            answer = session.put(
                f"{urls[number % 2]}/v2/service_instances/instance-{number}",
                json=body,
                headers={"X-Broker-API-Version": "2.15"},
                auth=(BROKER_USERNAME, BROKER_PASSWORD),
                timeout=60,
            )
        return answer.status_code

    with ThreadPoolExecutor(20) as threads:
        statuses = list(threads.map(provision, range(20)))
    assert sorted(statuses) == [201] + [409] * 19
    assert _stored(engine) == [1, 0]


def test_unbinding_stops_what_runs_and_binding_again_lets_it_go_on(
    suite: StartSuite, endpoint: Endpoint, cc: StandInController, uaa: StandInUaa, rows: Rows
) -> None:
    # checklist 211, 215
    running = suite("postgres", SCHEDULER_BROKER_REQUIRE_BINDING="true")
    admin = CfUser(cc.url, uaa.admin_token())
    admin.create_service_broker("scheduler", running.broker_url, BROKER_USERNAME, BROKER_PASSWORD)
    admin.enable_service_access("scheduler")
    instance = admin.create_service("scheduler", "standard", "mine", running.app.space_guid)
    binding = admin.bind_service(running.app.guid, instance)
    call = running.create_call(endpoint.url)
    schedule = running.schedule("calls", call["guid"], EVERY_SECOND)
    wait_until(lambda: endpoint.hits, within=30, what="the call is made")
    admin.delete_binding(binding)
    # Nothing is planned from here on; what was PENDING by then is still made.
    planned = _planned(rows)
    assert _schedule(running, call, schedule)["paused_by"] == "unbind"
    refused = running.request("POST", f"/calls/{call['guid']}/execute", status=403)
    assert refused["errors"][0]["code"] == "binding_required"
    _let_pass(rows, seconds=3)
    assert _planned(rows) == planned
    admin.bind_service(running.app.guid, instance)
    wait_until(lambda: _planned(rows) > planned, within=30, what="the schedule goes on")
    assert _schedule(running, call, schedule)["enabled"] is True
    statuses = {row.state for row in rows.all() if row.reason == "paused"}
    assert statuses == {"SKIPPED"}  # the time without a binding is recorded, not made up for
    admin.close()


def _schedule(running: Suite, call: dict[str, Any], schedule: dict[str, Any]) -> Any:
    return running.request("GET", f"/calls/{call['guid']}/schedules/{schedule['guid']}")


def _planned(rows: Rows) -> int:
    return sum(row.trigger == "schedule" and row.state != "SKIPPED" for row in rows.all())


def _let_pass(rows: Rows, *, seconds: float) -> None:
    """Wait until the database's clock has moved on, so that several due instants have come and gone."""
    began = rows.now()
    wait_until(
        lambda: (rows.now() - began).total_seconds() > seconds, within=seconds + 30, what="time passes", every=0.2
    )

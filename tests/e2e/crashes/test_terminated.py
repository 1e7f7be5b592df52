"""SIGTERM: nothing new begins, what is under way may end, the rest is left as others can go on with it; exit 0."""

import os
import signal
import socket
import threading
import time

import pytest

from scheduler.store.engine import open_engine
from scheduler_local.testing import RUNNING_FOR_EVER, SUCCEEDED
from tests.e2e.crashes.conftest import Crew, StartCrew
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.processes import STOP_SECONDS
from tests.fixtures.rabbitmq import RabbitNode
from tests.fixtures.raw_endpoints import ANSWER, RawEndpoint, Serve
from tests.fixtures.rows import Rows
from tests.fixtures.session import wait_until
from tests.fixtures.suite import Endpoint


def _silent(endpoint: RawEndpoint, connection: socket.socket) -> None:
    endpoint.receive(connection)
    connection.recv(1)


def _services(crew: Crew) -> list[str]:
    with crew.rows.engine.connect() as connection:
        return sorted(connection.exec_driver_sql("SELECT service FROM processes").scalars())


@pytest.mark.parametrize("name", ["ticker", "job-runner", "call-runner"])
def test_an_idle_service_ends_at_once_and_leaves_nothing(rabbit_crew: Crew, name: str) -> None:
    service = rabbit_crew.start(name)
    wait_until(lambda: _services(rabbit_crew) == [name], within=10, what="it is registered")
    begun = time.monotonic()
    assert service.stop() == 0
    assert time.monotonic() - begun < 5
    assert _services(rabbit_crew) == []


def test_a_call_that_ends_within_the_grace_counts_and_nothing_new_begins(
    rabbit_crew: Crew, serve: Serve
) -> None:  # checklist 308
    release = threading.Event()

    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        while endpoint.receive(connection):
            release.wait(20)
            connection.sendall(ANSWER)

    endpoint = serve(behave)
    call = rabbit_crew.call(endpoint.url, timeout_seconds=60)
    rabbit_crew.start("ticker")
    runner = rabbit_crew.start("call-runner", SCHEDULER_WORKERS="10")
    guids = [rabbit_crew.run(call) for _ in range(15)]
    wait_until(lambda: len(endpoint.requests) == 10, within=30, what="all threads work")
    under_way = {request.headers["x-scheduler-execution-guid"] for request in endpoint.requests}
    threading.Timer(1.0, release.set).start()
    assert runner.stop() == 0
    assert {str(guid) for guid in guids if rabbit_crew.row(guid).state == "SUCCEEDED"} == under_way
    assert len(endpoint.requests) == 10
    rabbit_crew.start("call-runner")
    for guid in guids:
        rabbit_crew.await_row(guid, state="SUCCEEDED", attempt=1)
    assert len(endpoint.requests) == 15


def test_a_call_that_does_not_end_is_interrupted_in_time(rabbit_crew: Crew, serve: Serve) -> None:
    endpoint = serve(_silent)
    rabbit_crew.start("ticker")
    runner = rabbit_crew.start("call-runner")
    guid = rabbit_crew.run(rabbit_crew.call(endpoint.url, timeout_seconds=60))
    wait_until(lambda: endpoint.requests, within=30, what="the call has arrived")
    assert runner.stop(STOP_SECONDS) == 0
    row = rabbit_crew.row(guid)
    assert (row.state, row.reason) == ("FAILED", "interrupted")
    assert _services(rabbit_crew) == ["ticker"]


def test_a_second_sigterm_changes_nothing(crew: Crew, serve: Serve) -> None:
    endpoint = serve(_silent)
    crew.start("ticker")
    runner = crew.start("call-runner", SHUTDOWN_GRACE_SECONDS="2")
    guid = crew.run(crew.call(endpoint.url, timeout_seconds=60))
    wait_until(lambda: endpoint.requests, within=30, what="the call has arrived")
    for _ in range(20):
        os.kill(runner.pid, signal.SIGTERM)
    assert runner.stop() == 0
    assert crew.row(guid).reason == "interrupted"


def test_a_task_that_is_being_created_is_found_by_the_next_runner(crew: Crew) -> None:  # checklist 308
    cc = crew.cc
    cc.script_tasks(RUNNING_FOR_EVER)
    cc.fault("slow", method="POST", path="/tasks", after=True, seconds=20, count=1)
    crew.start("ticker")
    runner = crew.start("job-runner", SHUTDOWN_GRACE_SECONDS="1")
    guid = crew.run(crew.job())
    (task,) = wait_until(cc.tasks, within=30, what="the task is created")
    assert runner.stop() == 0
    assert (crew.row(guid).state, crew.row(guid).look_up_first) == ("PENDING", True)
    crew.start("job-runner")
    crew.await_row(guid, state="RUNNING", task_guid=task["guid"])
    cc.script_task(task["guid"], SUCCEEDED)
    crew.await_row(guid, state="SUCCEEDED")
    assert len(cc.tasks()) == 1


def test_a_task_under_way_is_followed_by_the_next_runner(crew: Crew) -> None:  # checklist 308
    crew.cc.script_tasks(RUNNING_FOR_EVER)
    crew.start("ticker")
    runner = crew.start("job-runner")
    guid = crew.run(crew.job())
    task = wait_until(lambda: crew.row(guid).task_guid, within=30, what="the task is recorded")
    assert runner.stop() == 0
    assert crew.row(guid).state == "RUNNING"
    crew.cc.script_task(task, SUCCEEDED)
    crew.start("job-runner")
    crew.await_row(guid, state="SUCCEEDED")


def test_a_service_ends_in_time_while_rabbitmq_is_away(rabbit_crew: Crew, rabbitmq: RabbitNode) -> None:
    services = [rabbit_crew.start(name) for name in ("ticker", "call-runner")]
    rabbitmq.kill()
    for service in services:
        assert service.stop() == 0


def test_a_service_ends_in_time_while_the_database_is_away(
    start_crew: StartCrew, own_postgres: PostgresServer, amqp_url: str, serve: Serve
) -> None:
    crew = start_crew(amqp_url)
    crew.environment["DATABASE_URL"] = own_postgres.create_database()
    services = [crew.start(name) for name in ("ticker", "job-runner", "call-runner")]
    own_postgres.stop()
    for service in services:
        assert service.stop() == 0


def test_a_call_under_way_when_database_and_runner_end_is_settled_later(
    start_crew: StartCrew, own_postgres: PostgresServer, amqp_url: str, serve: Serve
) -> None:
    endpoint = serve(_silent)
    url = own_postgres.create_database()
    engine = open_engine(url)
    crew = start_crew(amqp_url)
    crew.rows = Rows(engine)
    crew.environment["DATABASE_URL"] = url
    crew.start("ticker")
    runner = crew.start("call-runner", SHUTDOWN_GRACE_SECONDS="1")
    guid = crew.run(crew.call(endpoint.url, timeout_seconds=60))
    wait_until(lambda: endpoint.requests, within=30, what="the call has arrived")
    own_postgres.stop()
    assert runner.stop() == 0
    own_postgres.start()
    engine.dispose()
    crew.await_row(guid, within=60, state="FAILED", reason="runner_lost")
    engine.dispose()


def test_what_the_next_runner_is_given_arrives_once(rabbit_crew: Crew, endpoint: Endpoint) -> None:
    call = rabbit_crew.call(endpoint.url)
    guids = [rabbit_crew.run(call) for _ in range(200)]
    rabbit_crew.start("ticker")
    for _ in range(3):
        runner = rabbit_crew.start("call-runner", SCHEDULER_WORKERS="10")
        assert runner.stop() == 0
    rabbit_crew.start("call-runner")
    for guid in guids:
        rabbit_crew.await_row(guid, state="SUCCEEDED")
    sent = sorted(hit.headers["x-scheduler-execution-guid"] for hit in endpoint.hits)
    assert sent == sorted(str(guid) for guid in guids)

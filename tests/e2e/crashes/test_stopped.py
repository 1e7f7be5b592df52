"""SIGSTOP until others have taken over, then SIGCONT: whoever wakes does nothing twice."""

import json
import socket
import threading
from datetime import timedelta

from scheduler_local.testing import RUNNING_FOR_EVER, StandInUaa
from tests.e2e.crashes.conftest import RESCUED_WITHIN, Crew, retrying
from tests.fixtures.processes import Service
from tests.fixtures.raw_endpoints import ANSWER, RawEndpoint, Serve
from tests.fixtures.session import wait_until
from tests.fixtures.suite import Endpoint

IDLE_IN_TRANSACTION_SECONDS = 15  # after which PostgreSQL ends what a stopped process has begun


def _silent(endpoint: RawEndpoint, connection: socket.socket) -> None:
    endpoint.receive(connection)
    connection.recv(1)


def _await_new_generation(service: Service) -> None:
    service.wait_logged(action="new_generation")


def test_a_call_that_others_have_tried_again_is_not_ended_by_the_runner_that_wakes(crew: Crew, serve: Serve) -> None:
    endpoint = serve(_silent)
    call = crew.call(endpoint.url, timeout_seconds=120, retry=retrying("runner_lost"))
    crew.start("ticker")
    stopped = crew.start("call-runner")
    guid = crew.run(call)
    wait_until(lambda: endpoint.requests, within=30, what="the call has arrived")
    stopped.suspend()
    endpoint.behave = lambda endpoint, connection: endpoint.receive(connection) and connection.sendall(ANSWER)
    crew.start("call-runner")
    ended = crew.await_row(guid, state="SUCCEEDED")
    endpoint.hang_up()
    stopped.wake()
    _await_new_generation(stopped)
    stopped.wait_logged(action="outcomes_unmatched")
    row = crew.row(guid)
    assert (row.state, row.attempt, row.execution_end_time) == ("SUCCEEDED", 2, ended.execution_end_time)
    assert len(endpoint.requests) == 2


def test_the_true_outcome_of_a_call_given_up_as_lost_is_still_written(crew: Crew, serve: Serve) -> None:
    answers: list[socket.socket] = []

    def behave(endpoint: RawEndpoint, connection: socket.socket) -> None:
        endpoint.receive(connection)
        answers.append(connection)
        connection.recv(1)

    endpoint = serve(behave)
    crew.start("ticker")
    stopped = crew.start("call-runner")
    guid = crew.run(crew.call(endpoint.url, timeout_seconds=120))
    wait_until(lambda: answers, within=30, what="the call has arrived")
    stopped.suspend()
    crew.await_row(guid, state="FAILED", reason="runner_lost")
    answers[0].sendall(ANSWER)
    stopped.wake()
    crew.await_row(guid, state="SUCCEEDED", reason=None)
    assert len(endpoint.requests) == 1


def test_a_task_created_just_before_its_runner_was_stopped_is_the_only_one(crew: Crew) -> None:
    crew.cc.script_tasks(RUNNING_FOR_EVER)
    crew.cc.fault("slow", method="POST", path="/tasks", after=True, seconds=3, count=1)
    crew.start("ticker")
    stopped = crew.start("job-runner")
    guid = crew.run(crew.job())
    (task,) = wait_until(crew.cc.tasks, within=30, what="the task is created", every=0.05)
    stopped.suspend()
    crew.start("job-runner")
    crew.await_row(guid, state="RUNNING", task_guid=task["guid"])
    stopped.wake()
    _await_new_generation(stopped)
    crew.await_row(guid, state="RUNNING", task_guid=task["guid"])
    assert [each["state"] for each in crew.cc.tasks()] == ["RUNNING"]


def test_a_task_created_by_a_runner_that_wakes_too_late_is_cancelled(crew: Crew, uaa: StandInUaa, serve: Serve) -> None:
    """It was stopped after its last check and before its request: the window that cannot be closed."""
    token = json.dumps({"access_token": uaa.client_token(), "token_type": "bearer", "expires_in": 600}).encode()
    woken = threading.Event()

    def give_the_token_late(endpoint: RawEndpoint, connection: socket.socket) -> None:
        while endpoint.receive(connection):
            woken.wait(60)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(token), token))

    slow_uaa = serve(give_the_token_late)
    crew.cc.script_tasks(RUNNING_FOR_EVER)
    crew.start("ticker")
    stopped = crew.start("job-runner", UAA_ENDPOINT=slow_uaa.url)
    guid = crew.run(crew.job())
    wait_until(lambda: slow_uaa.requests, within=30, what="the runner waits for its token")
    stopped.suspend()
    crew.start("job-runner")
    kept = wait_until(lambda: crew.row(guid).task_guid, within=RESCUED_WITHIN, what="another task is recorded")
    woken.set()
    stopped.wake()
    stopped.wait_logged(action="surplus_cancelled")
    assert {task["guid"] == kept: task["state"] for task in crew.cc.tasks()} == {True: "RUNNING", False: "FAILED"}
    assert crew.row(guid).task_guid == kept


def test_a_runner_stopped_in_its_claim_loses_the_run_to_others(crew: Crew, endpoint: Endpoint) -> None:
    crew.start("ticker")
    guid = crew.run(crew.call(endpoint.url))
    wait_until(lambda: crew.row(guid).queued_at, within=30, what="the run is queued")
    with crew.rows.engine.begin() as holding:
        holding.exec_driver_sql("SELECT FROM executions FOR UPDATE")
        stopped = crew.start("call-runner")
        wait_until(lambda: _waits_for_a_lock(crew), within=30, what="a claim waits for its row")
        stopped.suspend()
    crew.start("call-runner")
    crew.await_row(guid, state="SUCCEEDED", within=IDLE_IN_TRANSACTION_SECONDS + RESCUED_WITHIN)
    stopped.wake()
    _await_new_generation(stopped)
    after = crew.run(crew.call(endpoint.url))
    crew.await_row(after, state="SUCCEEDED")
    assert [hit.headers["x-scheduler-execution-guid"] for hit in endpoint.hits] == [str(guid), str(after)]


def _waits_for_a_lock(crew: Crew) -> bool:
    with crew.rows.engine.connect() as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        return bool(connection.exec_driver_sql(query).scalar_one())


def test_a_ticker_stopped_in_a_transaction_holds_nobody_up_for_long(rabbit_crew: Crew, endpoint: Endpoint) -> None:
    stopped = rabbit_crew.start("ticker")
    call = rabbit_crew.call(endpoint.url)
    rabbit_crew.start("call-runner")
    with rabbit_crew.rows.engine.begin() as holding:
        holding.exec_driver_sql("LOCK TABLE executions IN SHARE ROW EXCLUSIVE MODE")
        wait_until(lambda: _waits_for_a_lock(rabbit_crew), within=30, what="the ticker waits in a transaction")
        stopped.suspend()
    rabbit_crew.start("ticker")
    guid = rabbit_crew.run(call)
    row = rabbit_crew.await_row(guid, state="SUCCEEDED", within=IDLE_IN_TRANSACTION_SECONDS + RESCUED_WITHIN)
    assert row.execution_start_time - row.created_at < timedelta(seconds=IDLE_IN_TRANSACTION_SECONDS + 10)
    stopped.wake()
    after = rabbit_crew.run(call)
    rabbit_crew.await_row(after, state="SUCCEEDED")
    assert len(endpoint.hits) == 2

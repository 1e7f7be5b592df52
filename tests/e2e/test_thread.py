"""From a definition to runs that really happened: all services as processes, over each queue."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scheduler_local.testing import StandInController
from tests.fixtures.rabbitmq import RabbitNode
from tests.fixtures.session import wait_until
from tests.fixtures.suite import Endpoint, StartSuite, Suite

EVERY_TWO_SECONDS = "*/2 * * * * *"
RUNS = 10
COMMAND = 'echo "ran for $SCHEDULER_SCHEDULED_TIME"'


def _schedule_both(suite: Suite, endpoint: Endpoint) -> tuple[dict[str, Any], dict[str, Any]]:
    """Schedule a job and a call for the same ten instants; return their schedules."""
    # An end makes the number of runs exact, however long the test takes to look.
    start = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=4 - datetime.now(UTC).second % 2)
    window = {"start_time": start.isoformat(), "end_time": (start + timedelta(seconds=2 * RUNS - 1)).isoformat()}
    job = suite.create_job(COMMAND, pass_context=True)
    call = suite.create_call(f"{endpoint.url}/hook")
    return (
        suite.schedule("jobs", job["guid"], EVERY_TWO_SECONDS, **window),
        suite.schedule("calls", call["guid"], EVERY_TWO_SECONDS, **window),
    )


def _ended(suite: Suite, kind: str, guid: str) -> list[dict[str, Any]]:
    history = suite.history(kind, guid)
    states = {execution["state"] for execution in history}
    return history if len(history) >= RUNS and states <= {"SUCCEEDED", "FAILED"} else []


def _expect_ten_runs(history: list[dict[str, Any]]) -> None:
    assert [execution["state"] for execution in history] == ["SUCCEEDED"] * RUNS
    times = sorted(datetime.fromisoformat(execution["scheduled_time"]) for execution in history)
    assert times == [times[0] + timedelta(seconds=2 * number) for number in range(RUNS)]
    assert all(time.microsecond == 0 and time.second % 2 == 0 for time in times)


def _expect_everything_ran_once(suite: Suite, endpoint: Endpoint, cc: StandInController, schedules: Any) -> None:
    job_schedule, call_schedule = schedules
    job, call = job_schedule["job_guid"], call_schedule["call_guid"]
    runs = wait_until(lambda: _ended(suite, "jobs", job), within=90, what="ten runs of the job", every=0.5)
    _expect_ten_runs(runs)
    tasks = {task["guid"]: task for task in cc.tasks()}
    assert len(tasks) == RUNS
    assert {run["task_guid"] for run in runs} == set(tasks)
    assert len(re.findall(r"OUT ran for 20\d\d-", cc.output())) >= RUNS
    runs = wait_until(lambda: _ended(suite, "calls", call), within=90, what="ten runs of the call", every=0.5)
    _expect_ten_runs(runs)
    assert len(endpoint.hits) == RUNS
    _expect_headers(endpoint, runs, call_schedule["guid"])


def _expect_headers(endpoint: Endpoint, runs: list[dict[str, Any]], schedule_guid: str) -> None:
    by_guid = {run["guid"]: run for run in runs}
    for hit in endpoint.hits:
        run = by_guid[hit.headers["x-scheduler-execution-guid"]]
        assert (hit.method, hit.path, hit.body) == ("POST", "/hook", b"")
        assert hit.headers["authorization"] == "bearer secret"  # checklist 97, 165
        assert hit.headers["x-scheduler-schedule-guid"] == schedule_guid
        sent = datetime.fromisoformat(hit.headers["x-scheduler-scheduled-time"])
        assert sent == datetime.fromisoformat(run["scheduled_time"])
        assert hit.headers["x-scheduler-attempt"] == "1"
        assert hit.headers["idempotency-key"] == run["guid"]
        assert "secret" not in hit.headers["user-agent"]


@pytest.mark.parametrize("of_each", [1, 2])
def test_every_due_instant_runs_once_over_rabbitmq(
    suite: StartSuite, amqp_url: str, endpoint: Endpoint, cc: StandInController, of_each: int
) -> None:
    running = suite(amqp_url, of_each=of_each)
    _expect_everything_ran_once(running, endpoint, cc, _schedule_both(running, endpoint))


@pytest.mark.parametrize("of_each", [1, 2])
def test_every_due_instant_runs_once_over_postgresql(
    suite: StartSuite, endpoint: Endpoint, cc: StandInController, of_each: int
) -> None:
    running = suite("postgres", of_each=of_each)
    _expect_everything_ran_once(running, endpoint, cc, _schedule_both(running, endpoint))


def test_every_due_instant_runs_once_though_the_queues_are_deleted_in_the_middle(
    suite: StartSuite, amqp_url: str, rabbitmq: RabbitNode, endpoint: Endpoint, cc: StandInController
) -> None:
    running = suite(amqp_url, SCHEDULER_LIVENESS_SECONDS="6")
    schedules = _schedule_both(running, endpoint)
    wait_until(lambda: len(endpoint.hits) >= RUNS // 2, within=60, what="half of the calls")
    vhost = amqp_url.rpartition("/")[2]
    for queue in ("scheduler.job", "scheduler.call"):
        rabbitmq.control("--vhost", vhost, "delete_queue", queue)
    _expect_everything_ran_once(running, endpoint, cc, schedules)

"""Followers see every task to its end, with few requests, whatever Cloud Controller answers meanwhile."""

from typing import Any
from uuid import UUID

import pytest

from scheduler.cloudfoundry.controller import TASKS_PER_REQUEST
from scheduler_local.testing import PENDING_FOR_EVER, RUNNING_FOR_EVER, SUCCEEDED, StandInController, failed
from tests.fixtures.rows import Rows
from tests.integration.jobs.conftest import JobRunner

CANCELING = ({"state": "CANCELING"},)


@pytest.fixture(autouse=True)
def _tasks_run_for_ever(cc: StandInController) -> None:
    cc.script_tasks(RUNNING_FOR_EVER)


@pytest.fixture
def running(job_runner: JobRunner) -> UUID:
    """An execution whose task runs."""
    return job_runner.start(job_runner.job())


def _pending(job_runner: JobRunner, cc: StandInController) -> UUID:
    cc.script_tasks(PENDING_FOR_EVER, count=1)
    return job_runner.start(job_runner.job())


def _next_look(rows: Rows, guid: UUID) -> float:
    return float((rows.read(guid).next_poll_at - rows.now()).total_seconds())


def _looks(cc: StandInController) -> list[dict[str, Any]]:
    return [request for request in cc.requests(method="GET") if request["path"].startswith("/v3/tasks")]


def _cancellations(cc: StandInController) -> int:
    return sum(request["path"].endswith("/actions/cancel") for request in cc.requests(method="POST"))


def test_a_task_that_succeeds_ends_its_run(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:  # checklist 154, 155
    cc.script_task(rows.read(running).task_guid, SUCCEEDED)
    job_runner.follow()
    row = rows.read(running)
    assert (row.state, row.reason, row.message) == ("SUCCEEDED", None, "")
    assert row.execution_end_time >= row.execution_start_time
    assert row.duration_ms is not None
    assert row.next_poll_at is None


def test_a_task_that_fails_ends_its_run_with_cloud_controllers_reason(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:  # checklist 156
    cc.script_task(rows.read(running).task_guid, failed("Exited with status 3"))
    job_runner.follow()
    row = rows.read(running)
    assert (row.state, row.reason, row.message) == ("FAILED", "task_failed", "Exited with status 3")


def test_a_young_task_is_looked_at_every_five_seconds(
    job_runner: JobRunner, rows: Rows, running: UUID
) -> None:  # checklist 154
    assert 4 < _next_look(rows, running) <= 5
    job_runner.follow()
    assert 4 < _next_look(rows, running) <= 5


@pytest.mark.parametrize(("age", "distance"), [(200, 10), (500, 25), (600, 30), (7 * 86_400, 30)])
def test_an_older_task_is_looked_at_less_often(
    job_runner: JobRunner, rows: Rows, running: UUID, age: float, distance: float
) -> None:  # checklist 164
    job_runner.grow_older(running, age)
    job_runner.follow()
    assert distance - 1 < _next_look(rows, running) < distance + 1
    assert rows.read(running).state == "RUNNING"


def test_a_task_being_cancelled_is_followed_to_its_end(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:  # checklist 158
    task = rows.read(running).task_guid
    cc.script_task(task, CANCELING)
    job_runner.follow()
    assert rows.read(running).state == "RUNNING"
    cc.script_task(task, failed("task was cancelled"))
    job_runner.follow()
    assert (rows.read(running).state, rows.read(running).message) == ("FAILED", "task was cancelled")


@pytest.mark.parametrize("fault", ["rate_limited", "unavailable", "bad_gateway", "server_error", "not_json", "cut"])
def test_a_look_that_fails_is_repeated_later(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID, fault: str
) -> None:  # checklist 159
    cc.fault(fault, method="GET", path="/v3/tasks")
    job_runner.follow()
    assert rows.read(running).state == "RUNNING"
    assert _next_look(rows, running) > 0
    cc.clear_faults()
    cc.script_task(rows.read(running).task_guid, SUCCEEDED)
    job_runner.follow()
    assert rows.read(running).state == "SUCCEEDED"


def test_looks_that_fail_are_repeated_at_growing_distances(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:  # checklist 159
    cc.fault("server_error", method="GET", path="/v3/tasks")
    distances = []
    for _ in range(7):
        job_runner.follow()
        distances.append(round(_next_look(rows, running)))
    assert distances == [2, 4, 8, 16, 30, 30, 30]


def test_a_look_waits_as_long_as_cloud_controller_asks_for(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:  # checklist 159
    cc.fault("rate_limited", method="GET", path="/v3/tasks", retry_after="120")
    job_runner.follow()
    assert 118 < _next_look(rows, running) <= 120


def test_a_task_that_vanished_ends_its_run(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:  # checklist 159
    cc.remove_task(rows.read(running).task_guid)
    job_runner.follow()
    row = rows.read(running)
    assert (row.state, row.reason) == ("FAILED", "task_gone")
    assert "no longer knows the task" in row.message


@pytest.mark.parametrize("fault", ["router_404", "unknown_route", "forbidden"])
def test_a_task_that_is_only_not_shown_goes_on(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID, fault: str
) -> None:  # checklist 159
    task = rows.read(running).task_guid
    cc.remove_task(task)
    cc.fault(fault, method="GET", path=f"/v3/tasks/{task}")
    job_runner.follow()
    assert rows.read(running).state == "RUNNING"


def test_a_task_pending_for_fifteen_minutes_is_cancelled_and_its_run_fails(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:  # checklist 160
    guid = _pending(job_runner, cc)
    job_runner.grow_older(guid, 900)
    job_runner.follow()
    row = rows.read(guid)
    assert (row.state, row.reason) == ("FAILED", "never_started")
    assert row.message == "the task never started: Cloud Controller kept it PENDING for 15 minutes"
    assert _cancellations(cc) == 1
    assert cc.tasks()[0]["state"] == "FAILED"


def test_a_task_pending_for_a_second_less_is_waited_for(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:  # checklist 161
    guid = _pending(job_runner, cc)
    job_runner.grow_older(guid, 890)
    job_runner.follow()
    assert rows.read(guid).state == "RUNNING"
    assert _cancellations(cc) == 0


def test_a_cancel_that_fails_is_said_in_the_message(
    job_runner: JobRunner, cc: StandInController, rows: Rows, caplog: pytest.LogCaptureFixture
) -> None:  # checklist 162
    guid = _pending(job_runner, cc)
    job_runner.grow_older(guid, 900)
    cc.fault("server_error", method="POST", path="/actions/cancel")
    job_runner.follow()
    row = rows.read(guid)
    assert (row.state, row.reason) == ("FAILED", "never_started")
    assert "cancelling it failed, so it may still run: Cloud Controller answers 500" in row.message
    assert "A task could not be cancelled" in caplog.text


def test_a_task_that_starts_at_last_has_no_limit(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:  # checklist 163, 164
    guid = _pending(job_runner, cc)
    cc.script_task(rows.read(guid).task_guid, RUNNING_FOR_EVER)
    job_runner.grow_older(guid, 100_000)
    job_runner.follow()
    assert rows.read(guid).state == "RUNNING"
    assert _cancellations(cc) == 0


def test_a_task_that_ended_before_it_could_be_cancelled_counts_as_it_ended(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    guid = _pending(job_runner, cc)
    job_runner.grow_older(guid, 900)
    task = rows.read(guid).task_guid
    cancel = job_runner.controller.cancel_task

    def cancel_too_late(task_guid: str) -> Any:
        cc.script_task(task, SUCCEEDED)
        return cancel(task_guid)

    job_runner.controller.cancel_task = cancel_too_late  # type: ignore[method-assign]
    job_runner.follow()
    assert rows.read(guid).state == "SUCCEEDED"


def test_a_run_that_a_user_cancels_ends_with_its_task(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:
    rows.run("UPDATE executions SET cancel_requested_at = now()")
    job_runner.follow()
    assert rows.read(running).state == "RUNNING"
    assert 4 < _next_look(rows, running) <= 5
    job_runner.follow()
    row = rows.read(running)
    assert (row.state, row.reason, row.message) == ("FAILED", "cancelled", "task was cancelled")
    assert _cancellations(cc) == 1


def test_a_users_cancel_that_fails_is_repeated(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:
    rows.run("UPDATE executions SET cancel_requested_at = now()")
    cc.fault("unavailable", method="POST", path="/actions/cancel", count=1)
    job_runner.follow()
    assert rows.read(running).state == "RUNNING"
    job_runner.follow()
    job_runner.follow()
    assert (rows.read(running).state, rows.read(running).reason) == ("FAILED", "cancelled")


def test_a_cancel_asked_for_during_a_look_is_seen_at_once(job_runner: JobRunner, rows: Rows, running: UUID) -> None:
    job_runner.grow_older(running, 10_000)
    look = job_runner.controller.tasks

    def look_while_a_user_cancels(guids: Any) -> Any:
        found = look(guids)
        rows.run("UPDATE executions SET cancel_requested_at = now(), next_poll_at = now()")
        return found

    job_runner.controller.tasks = look_while_a_user_cancels  # type: ignore[method-assign]
    job_runner.follow()
    assert _next_look(rows, running) <= 0


def test_many_tasks_are_looked_at_with_one_request(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    job = job_runner.job()
    guids = cc.add_tasks(job.app_guid, SUCCEEDED, count=TASKS_PER_REQUEST + 1)
    for task in guids:
        rows.execution(job, state="RUNNING", task_guid=task, next_poll_at=rows.now(), execution_start_time=rows.now())
    shortest = job_runner.follower.run_once()
    assert 1 / shortest == 5  # requests a second, at most
    assert len(_looks(cc)) == 1
    assert sum(row.state == "SUCCEEDED" for row in rows.all()) == TASKS_PER_REQUEST
    assert job_runner.follower.run_once() > shortest
    assert len(_looks(cc)) == 2
    assert {row.state for row in rows.all()} == {"SUCCEEDED"}


def test_one_odd_task_does_not_hide_the_others(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    job = job_runner.job()
    odd, fine = job_runner.start(job), job_runner.start(job)
    cc.script_task(rows.read(odd).task_guid, [{"state": "DREAMING"}])
    cc.script_task(rows.read(fine).task_guid, SUCCEEDED)
    job_runner.follow()
    assert (rows.read(odd).state, rows.read(fine).state) == ("RUNNING", "SUCCEEDED")


def test_two_followers_never_look_at_the_same_tasks(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:
    rows.run("UPDATE executions SET next_poll_at = now()")
    look = job_runner.controller.tasks

    def look_while_another_follows(guids: Any) -> Any:
        job_runner.controller.tasks = look  # type: ignore[method-assign]
        job_runner.follower.run_once()
        return look(guids)

    job_runner.controller.tasks = look_while_another_follows  # type: ignore[method-assign]
    job_runner.follower.run_once()
    assert len(_looks(cc)) == 1
    assert rows.read(running).state == "RUNNING"


def test_a_run_that_ended_meanwhile_is_not_ended_again(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:
    cc.script_task(rows.read(running).task_guid, SUCCEEDED)
    look = job_runner.controller.tasks

    def look_while_it_ends(guids: Any) -> Any:
        rows.run("UPDATE executions SET state = 'FAILED', reason = 'task_gone'")
        return look(guids)

    job_runner.controller.tasks = look_while_it_ends  # type: ignore[method-assign]
    job_runner.follow()
    assert (rows.read(running).state, rows.read(running).reason) == ("FAILED", "task_gone")


def test_words_of_others_are_made_fit_to_store(
    job_runner: JobRunner, cc: StandInController, rows: Rows, running: UUID
) -> None:
    cc.script_task(rows.read(running).task_guid, failed("bad \x00 \x1b[31mwords\n" + "x" * 5_000))
    job_runner.follow()
    row = rows.read(running)
    assert row.message.startswith("bad [31mwords xxx")
    assert len(row.message) == 1_000

"""A run of a job gets one task, whatever Cloud Controller answers, or fails to."""

from dataclasses import replace
from typing import Any

import pytest

from scheduler.domain.claims import GiveBack
from scheduler.domain.guids import new_guid
from scheduler.runtime.loops import Stop
from scheduler.testing.factories import make_job
from scheduler_job_runner.recording import Recorder
from scheduler_local.testing import PENDING_FOR_EVER, RUNNING_FOR_EVER, StandInController
from tests.fixtures.rows import Rows
from tests.integration.jobs.conftest import JobRunner

LABEL = "scheduler.ocf/execution"


@pytest.fixture(autouse=True)
def _tasks_run_for_ever(cc: StandInController) -> None:
    cc.script_tasks(RUNNING_FOR_EVER)


def _creations(cc: StandInController) -> list[dict[str, Any]]:
    return [request for request in cc.requests(method="POST") if request["path"].endswith("/tasks")]


def test_a_run_creates_a_task_with_the_jobs_command_and_limits(
    job_runner: JobRunner, cc: StandInController
) -> None:  # checklist 150, 151
    job = job_runner.job(name="nightly", command="bin/run", memory_in_mb=64, disk_in_mb=128)
    guid = job_runner.start(job)
    (request,) = _creations(cc)
    assert request["path"] == f"/v3/apps/{job.app_guid}/tasks"
    (task,) = cc.tasks()
    assert (task["command"], task["memory_in_mb"], task["disk_in_mb"], task["name"]) == (
        "bin/run", 64, 128, "nightly",
    )  # fmt: skip
    assert "log_rate_limit_in_bytes_per_second" not in request["body"]  # 0 there would mean: no logs at all
    assert task["labels"][LABEL] == str(guid)
    assert task["annotations"]["scheduler.ocf/execution"] == str(guid)


def test_a_log_rate_is_passed_on_by_the_name_that_cloud_controller_knows(
    job_runner: JobRunner, cc: StandInController
) -> None:  # checklist 151
    job_runner.start(job_runner.job(log_rate_in_bps=4_096))
    assert cc.tasks()[0]["log_rate"] == 4_096


def test_the_tasks_guid_is_recorded_before_anybody_follows_it(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:  # checklist 152, 153
    guid = job_runner.start(job_runner.job())
    row = rows.read(guid)
    assert (row.state, row.task_guid) == ("RUNNING", cc.tasks()[0]["guid"])
    assert row.next_poll_at > rows.now()
    assert cc.requests(method="GET", path="/v3/tasks") == []


def test_nothing_is_created_when_the_runner_may_no_longer_start_anything(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    claimed = job_runner.claim(rows.execution(job_runner.job()))
    assert job_runner.performer.perform(claimed, lambda: False) == GiveBack()
    assert cc.tasks() == []


def test_a_refused_task_ends_the_run_with_cloud_controllers_words(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:  # checklist 157
    app = cc.add_app(has_droplet=False)
    job = make_job(name="nightly", app_guid=app.guid, space_guid=app.space_guid)
    rows.add(job)
    row = rows.read(job_runner.start(job))
    assert (row.state, row.reason) == ("FAILED", "refused")
    assert row.message.startswith("no task for the job nightly: Task must have a droplet")


def test_a_job_whose_app_is_gone_fails_each_time(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:  # checklist 157
    job = job_runner.job(name="nightly")
    cc.remove_app(job.app_guid)
    for _ in range(2):
        row = rows.read(job_runner.start(job))
        assert (row.state, row.message) == ("FAILED", "no task for the job nightly: App not found")


@pytest.mark.parametrize("fault", ["forbidden", "server_error"])
def test_any_other_refusal_ends_the_run(
    job_runner: JobRunner, cc: StandInController, rows: Rows, fault: str
) -> None:  # checklist 157
    cc.fault(fault, method="POST", path="/tasks")
    row = rows.read(job_runner.start(job_runner.job(name="nightly")))
    assert (row.state, row.reason) == ("FAILED", "refused")
    assert "nightly" in row.message


@pytest.mark.parametrize("fault", ["rate_limited", "unavailable", "router_503"])
def test_a_passing_refusal_waits(job_runner: JobRunner, cc: StandInController, rows: Rows, fault: str) -> None:
    cc.fault(fault, method="POST", path="/tasks", count=1)
    guid = job_runner.start(job_runner.job())
    row = rows.read(guid)
    assert (row.state, row.attempt, row.look_up_first) == ("PENDING", 0, False)
    assert 4 < (row.not_before - rows.now()).total_seconds() < 7
    assert row.message.startswith("waits: ")
    job_runner.perform(job_runner.claim(guid))
    assert rows.read(guid).state == "RUNNING"
    assert len([task for task in cc.tasks() if task["state"] == "RUNNING"]) == 1


def test_a_wait_is_as_long_as_cloud_controller_asks_for(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    cc.fault("rate_limited", method="POST", path="/tasks", count=1, retry_after="120")
    row = rows.read(job_runner.start(job_runner.job()))
    assert 115 < (row.not_before - rows.now()).total_seconds() < 150


def test_waits_grow_with_what_the_run_has_waited(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    cc.fault("unavailable", method="POST", path="/tasks")
    job = job_runner.job()
    waits = []
    for age in (0, 40, 80, 10_000):
        row = rows.read(job_runner.start(job, age=age))
        waits.append((row.not_before - rows.now()).total_seconds())
    assert waits == sorted(waits)
    assert 55 < waits[3] < 75


def test_a_task_quota_is_waited_for(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    cc.limit(app_task_limit=1)
    job = job_runner.job()
    first = job_runner.start(job)
    second = job_runner.start(job)
    row = rows.read(second)
    assert row.state == "PENDING"
    assert "app_task_limit quota exceeded" in row.message
    cc.script_task(rows.read(first).task_guid, [{"state": "SUCCEEDED"}])
    job_runner.perform(job_runner.claim(second))
    assert rows.read(second).state == "RUNNING"


def test_without_a_token_of_our_own_the_run_waits(job_runner: JobRunner, uaa: Any, rows: Rows) -> None:
    uaa.fault("unavailable", path="/oauth/token")
    row = rows.read(job_runner.start(job_runner.job()))
    assert (row.state, row.look_up_first) == ("PENDING", False)


@pytest.mark.parametrize(
    "fault", [{"kind": "cut"}, {"kind": "bad_gateway"}, {"kind": "gateway_timeout"}, {"kind": "not_json"}]
)
def test_a_task_whose_creation_was_not_answered_is_found_by_its_label(
    job_runner: JobRunner, cc: StandInController, rows: Rows, fault: dict[str, Any]
) -> None:
    cc.fault(**fault, method="POST", path="/tasks", after=True, count=1)
    guid = job_runner.start(job_runner.job())
    row = rows.read(guid)
    assert (row.state, row.look_up_first, row.task_guid) == ("PENDING", True, None)
    assert 55 < (row.not_before - rows.now()).total_seconds() <= 60
    job_runner.perform(job_runner.claim(guid))
    (task,) = cc.tasks()
    row = rows.read(guid)
    assert (row.state, row.task_guid, row.look_up_first) == ("RUNNING", task["guid"], False)
    assert len(_creations(cc)) == 1


def test_a_task_that_was_not_created_after_all_is_created_then(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    cc.fault("cut", method="POST", path="/tasks", count=1)
    guid = job_runner.start(job_runner.job())
    assert rows.read(guid).look_up_first
    job_runner.perform(job_runner.claim(guid))
    (task,) = cc.tasks()
    assert rows.read(guid).task_guid == task["guid"]


def test_a_record_of_a_task_that_was_never_submitted_is_no_task(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    job = job_runner.job()
    guid = rows.execution(job, look_up_first=True)
    unsubmitted = [{"state": "FAILED", "reason": "Unable to request task to be run"}]
    cc.add_tasks(job.app_guid, unsubmitted, labels={LABEL: str(guid)})
    job_runner.perform(job_runner.claim(guid))
    running = [task["guid"] for task in cc.tasks() if task["state"] == "RUNNING"]
    assert [rows.read(guid).task_guid] == running


def test_a_second_task_of_a_run_is_cancelled(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    """Cloud Controller completed a request that we had given up, just while we created the task anew."""
    job = job_runner.job()
    guid = rows.execution(job, look_up_first=True)
    claimed = job_runner.claim(guid)
    create = job_runner.controller.create_task

    def create_beside_another(*arguments: Any) -> Any:
        cc.add_tasks(job.app_guid, RUNNING_FOR_EVER, labels={LABEL: str(guid)})
        return create(*arguments)

    job_runner.controller.create_task = create_beside_another  # type: ignore[method-assign]
    job_runner.perform(claimed)
    kept = rows.read(guid).task_guid
    assert {task["guid"] == kept: task["state"] for task in cc.tasks()} == {True: "RUNNING", False: "FAILED"}


def test_of_two_tasks_of_a_run_the_older_one_is_kept(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    job = job_runner.job()
    guid = rows.execution(job, look_up_first=True)
    labels = {LABEL: str(guid)}
    (younger,) = cc.add_tasks(job.app_guid, RUNNING_FOR_EVER, labels=labels, age_seconds=10)
    (older,) = cc.add_tasks(job.app_guid, RUNNING_FOR_EVER, labels=labels, age_seconds=20)
    job_runner.perform(job_runner.claim(guid))
    assert rows.read(guid).task_guid == older
    assert {task["guid"]: task["state"] for task in cc.tasks()} == {older: "RUNNING", younger: "FAILED"}


def test_without_an_answer_about_the_label_nothing_is_created(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    cc.fault("server_error", method="GET", path="/tasks")
    guid = job_runner.start(job_runner.job(), look_up_first=True)
    row = rows.read(guid)
    assert (row.state, row.look_up_first) == ("PENDING", True)
    assert _creations(cc) == []


def test_the_task_of_a_deleted_job_is_cancelled(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    app = cc.add_app()
    job = make_job(app_guid=app.guid, space_guid=app.space_guid)
    guid = rows.execution(job, look_up_first=True)
    cc.add_tasks(job.app_guid, RUNNING_FOR_EVER, labels={LABEL: str(guid)})
    job_runner.perform(job_runner.claim(guid))
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "deleted")
    assert [task["state"] for task in cc.tasks()] == ["FAILED"]


def test_a_deleted_job_without_a_task_ends(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    guid = rows.execution(make_job(), look_up_first=True)
    job_runner.perform(job_runner.claim(guid))
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "deleted")
    assert cc.tasks() == []


def test_a_cancelled_run_is_not_created_anew(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    guid = rows.execution(job_runner.job(), look_up_first=True, cancel_requested_at=rows.now())
    job_runner.perform(job_runner.claim(guid))
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "cancelled")
    assert cc.tasks() == []


def test_a_run_past_its_start_deadline_is_not_created_anew(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    guid = rows.execution(job_runner.job(), look_up_first=True, start_by=rows.now())
    job_runner.perform(job_runner.claim(guid))
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "too_late")
    assert cc.tasks() == []


def test_a_task_found_late_is_followed_all_the_same(job_runner: JobRunner, cc: StandInController, rows: Rows) -> None:
    job = job_runner.job()
    guid = rows.execution(job, look_up_first=True, start_by=rows.now(), cancel_requested_at=rows.now())
    cc.add_tasks(job.app_guid, RUNNING_FOR_EVER, labels={LABEL: str(guid)})
    job_runner.perform(job_runner.claim(guid))
    assert rows.read(guid).state == "RUNNING"
    job_runner.follow()
    job_runner.follow()
    assert (rows.read(guid).state, rows.read(guid).reason) == ("FAILED", "cancelled")


class TestARunThatOthersHaveTakenMeanwhile:
    """The runner was stopped for so long that it was given up, and then created its task after all."""

    def test_a_task_that_the_row_names_is_left_alone(
        self, job_runner: JobRunner, cc: StandInController, rows: Rows
    ) -> None:
        guid = rows.execution(job_runner.job())
        claimed = job_runner.claim(guid)
        create = job_runner.controller.create_task

        def create_and_be_overtaken(*arguments: Any) -> Any:
            task = create(*arguments)
            rows.run("UPDATE executions SET claim_token = NULL, task_guid = :task", task=task.guid)
            return task

        job_runner.controller.create_task = create_and_be_overtaken  # type: ignore[method-assign]
        job_runner.perform(claimed)
        assert [task["state"] for task in cc.tasks()] == ["RUNNING"]

    def test_a_task_beside_the_one_that_the_row_names_is_cancelled(
        self, job_runner: JobRunner, cc: StandInController, rows: Rows
    ) -> None:
        guid = rows.execution(job_runner.job())
        claimed = job_runner.claim(guid)
        rows.run("UPDATE executions SET claim_token = :other, task_guid = 'another'", other=new_guid())
        job_runner.perform(claimed)
        assert [task["state"] for task in cc.tasks()] == ["FAILED"]

    def test_a_task_that_somebody_will_look_for_is_left_to_be_found(
        self, job_runner: JobRunner, cc: StandInController, rows: Rows
    ) -> None:
        guid = rows.execution(job_runner.job())
        claimed = job_runner.claim(guid)
        rows.run("UPDATE executions SET state = 'PENDING', claim_token = NULL, look_up_first = true")
        job_runner.perform(claimed)
        assert [task["state"] for task in cc.tasks()] == ["RUNNING"]
        job_runner.perform(job_runner.claim(guid))
        assert rows.read(guid).task_guid == cc.tasks()[0]["guid"]

    def test_a_task_of_a_run_that_has_ended_is_cancelled(
        self, job_runner: JobRunner, cc: StandInController, rows: Rows
    ) -> None:
        claimed = job_runner.claim(rows.execution(job_runner.job()))
        rows.run("UPDATE executions SET state = 'FAILED', claim_token = NULL")
        job_runner.perform(claimed)
        assert [task["state"] for task in cc.tasks()] == ["FAILED"]


def test_a_stopping_runner_leaves_an_unrecorded_task_to_be_found(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    stop = Stop()
    stop.set()
    job = job_runner.job()
    guid = rows.execution(job)
    claimed = job_runner.claim(guid)
    rows.run("ALTER TABLE executions RENAME TO hidden")  # as good as a database that does not answer
    recorder = Recorder(rows.engine, job_runner.performer.search, stop)
    assert replace(job_runner.performer, recorder=recorder).perform(claimed, lambda: True) is None
    rows.run("ALTER TABLE hidden RENAME TO executions")
    assert rows.read(guid).task_guid is None
    job_runner.write(claimed, job_runner.performer.on_stop(claimed))
    job_runner.perform(job_runner.claim(guid))
    assert rows.read(guid).task_guid == cc.tasks()[0]["guid"]
    assert len(cc.tasks()) == 1


def test_a_task_that_never_starts_is_no_reason_to_create_another(
    job_runner: JobRunner, cc: StandInController, rows: Rows
) -> None:
    job = job_runner.job()
    guid = rows.execution(job, look_up_first=True)
    (task,) = cc.add_tasks(job.app_guid, PENDING_FOR_EVER, labels={LABEL: str(guid)})
    job_runner.perform(job_runner.claim(guid))
    assert rows.read(guid).task_guid == task

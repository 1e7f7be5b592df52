"""A job and one of its runs, as the task that is asked for."""

import subprocess
from datetime import UTC, datetime

import pytest

from scheduler.domain.guids import new_guid
from scheduler.testing.factories import make_claimed, make_job
from scheduler_job_runner.tasks import CommandTooLongError, new_task, task_name
from scheduler_job_runner.waiting import poll_delay, start_delay

DUE = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)


def _value_of(variable: str, command: str) -> str:
    """Run the command as Cloud Foundry would, and return what it sees."""
    script = f'{command}\nprintf %s "${variable}"'
    environment = {"SCHEDULER_PREVIOUS_TASK_GUID": "inherited", "PATH": "/usr/bin:/bin"}
    return subprocess.run(["/bin/sh", "-c", script], env=environment, capture_output=True, text=True, check=True).stdout


def test_only_what_is_known_is_labelled() -> None:
    job = make_job()
    claimed = make_claimed(job)
    task = new_task(job, claimed)
    assert task.labels == {"scheduler.ocf/execution": str(claimed.guid), "scheduler.ocf/job": str(job.guid)}
    assert task.annotations == {"scheduler.ocf/execution": str(claimed.guid), "scheduler.ocf/job": str(job.guid)}


def test_a_scheduled_run_carries_its_facts() -> None:
    job = make_job()
    claimed = make_claimed(
        job,
        schedule_guid=new_guid(),
        scheduled_time=DUE,
        previous_execution_guid=new_guid(),
        previous_task_guid="task-1",
    )
    task = new_task(job, claimed)
    assert task.labels["scheduler.ocf/schedule"] == str(claimed.schedule_guid)
    assert task.annotations["scheduler.ocf/scheduled-time"] == "2026-03-01T02:00:00Z"
    assert task.annotations["scheduler.ocf/previous-execution"] == str(claimed.previous_execution_guid)
    assert task.annotations["scheduler.ocf/previous-task"] == "task-1"


def test_without_pass_context_the_command_is_the_users_to_the_letter() -> None:
    command = "echo 'a  b' && exit 3 # $X\n"
    assert new_task(make_job(command=command), make_claimed()).command == command


def test_the_context_is_exported_before_the_command() -> None:
    job = make_job(command="exec 3>/dev/null", pass_context=True)
    claimed = make_claimed(
        job, scheduled_time=DUE, previous_execution_guid=new_guid(), previous_task_guid="it's $(a) `task`"
    )
    command = new_task(job, claimed).command
    assert command.endswith("\nexec 3>/dev/null")
    assert _value_of("SCHEDULER_EXECUTION_GUID", command) == str(claimed.guid)
    assert _value_of("SCHEDULER_SCHEDULED_TIME", command) == "2026-03-01T02:00:00Z"
    assert _value_of("SCHEDULER_PREVIOUS_EXECUTION_GUID", command) == str(claimed.previous_execution_guid)
    assert _value_of("SCHEDULER_PREVIOUS_TASK_GUID", command) == "it's $(a) `task`"


def test_what_there_is_not_is_empty() -> None:
    job = make_job(pass_context=True)
    command = new_task(job, make_claimed(job)).command
    assert _value_of("SCHEDULER_PREVIOUS_TASK_GUID", command) == ""
    assert _value_of("SCHEDULER_SCHEDULED_TIME", command) == ""


def test_command_and_context_have_one_limit() -> None:
    claimed = make_claimed()
    overhead = len(new_task(make_job(command="x", pass_context=True), claimed).command) - 1
    longest = make_job(command="x" * (4_096 - overhead), pass_context=True)
    assert len(new_task(longest, claimed).command) == 4_096
    with pytest.raises(CommandTooLongError, match="4097 characters; Cloud Controller takes 4096"):
        new_task(make_job(command="x" * (4_097 - overhead), pass_context=True), claimed)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nightly", "nightly"),
        ("größer & \U0001f600", "größer & \U0001f600"),
        ("zero\u200bwidth", "zero-width"),
        ("a\u2028b", "a-b"),
        ("\u00a0", "-"),
        ("   ", "job"),
        ("x" * 300, "x" * 255),
    ],
)
def test_a_jobs_name_becomes_one_that_cloud_controller_takes(name: str, expected: str) -> None:
    assert task_name(name) == expected


@pytest.mark.parametrize(("age", "delay"), [(0, 5), (100, 5), (200, 10), (599, 29.95), (10**9, 30)])
def test_looks_become_rarer_with_age(age: float, delay: float) -> None:
    assert poll_delay(age) == pytest.approx(delay)


@pytest.mark.parametrize(
    ("waited", "asked", "least"), [(0, None, 5), (60, None, 30), (10**6, None, 60), (0, 90, 90), (0, 10**9, 3_600)]
)
def test_waits_grow_and_keep_to_what_is_asked(waited: float, asked: float | None, least: float) -> None:
    assert least <= start_delay(waited, asked) <= least * 1.2

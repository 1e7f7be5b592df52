"""Rows as the API answers them."""

from typing import Any

from tests.integration.cli.conftest import SPACE

APP = "6f5b3a3e-2b8e-4c8f-a8a2-0e6f4f1f6c11"
JOB_GUID = "0193a1b2-0000-7000-8000-000000000001"
CALL_GUID = "0193a1b2-0000-7000-8000-000000000002"
SCHEDULE_GUID = "0193a1b2-0000-7000-8000-000000000003"
EXECUTION_GUID = "0193a1b2-0000-7000-8000-000000000004"

_TIMES = {"created_at": "2026-03-01T02:00:00Z", "updated_at": "2026-03-01T02:00:00Z"}


def job(**more: Any) -> dict[str, Any]:
    return {
        "guid": JOB_GUID,
        "name": "nightly",
        "command": "bin/rails cleanup",
        "disk_in_mb": 1024,
        "memory_in_mb": 512,
        "log_rate_in_bps": 0,
        "state": "PENDING",
        "app_guid": APP,
        "space_guid": SPACE,
        **_TIMES,
        **more,
    }


def call(**more: Any) -> dict[str, Any]:
    return {
        "guid": CALL_GUID,
        "name": "ping",
        "url": "https://example.com/ping",
        "app_guid": APP,
        "space_guid": SPACE,
        **_TIMES,
        **more,
    }


def schedule(**more: Any) -> dict[str, Any]:
    return {
        "guid": SCHEDULE_GUID,
        "job_guid": JOB_GUID,
        "enabled": True,
        "expression": "0 2 * * *",
        "expression_type": "cron_expression",
        "time_zone": "Europe/Berlin",
        "state": "active",
        "description": "at 02:00",
        "next_run_at": "2026-03-02T01:00:00Z",
        "last_run_at": None,
        "misfire": {"policy": "run_once", "grace_seconds": 60, "max_runs": 1000, "max_age_seconds": 604800},
        "overlap": "allow",
        "metadata": {},
        **_TIMES,
        **more,
    }


def execution(**more: Any) -> dict[str, Any]:
    return {
        "guid": EXECUTION_GUID,
        "job_guid": JOB_GUID,
        "task_guid": "",
        "state": "PENDING",
        "trigger": "manual",
        "message": "",
        "scheduled_time": None,
        "execution_start_time": None,
        "execution_end_time": None,
        **more,
    }


ENDED = {
    "state": "SUCCEEDED",
    "execution_start_time": "2026-03-01T02:00:00Z",
    "execution_end_time": "2026-03-01T02:00:04.2Z",
}

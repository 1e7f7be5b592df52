"""What the broker offers: one service with one plan. The ids are for ever; a registered broker is known by them."""

from typing import Any

SERVICE_ID = "918cedd2-8027-4b9e-a589-7d4676a2efa8"
PLAN_ID = "bf01c6d5-ff4b-468a-96b8-85d5f7beedc1"

CATALOG: dict[str, Any] = {
    "services": [
        {
            "id": SERVICE_ID,
            "name": "scheduler",
            "description": "Runs jobs as tasks of an app and makes HTTP calls, on timetables",
            "tags": ["scheduler", "cron", "jobs", "tasks"],
            "bindable": True,
            "plan_updateable": False,
            "instances_retrievable": False,
            "bindings_retrievable": False,
            "metadata": {
                "displayName": "Scheduler",
                "longDescription": (
                    "An instance turns the scheduler on for its space; binding an app lets the app be scheduled. "
                    "Unbinding an app pauses its schedules, binding it again resumes them."
                ),
                "shareable": False,
            },
            "plans": [
                {
                    "id": PLAN_ID,
                    "name": "standard",
                    "description": "Jobs, calls and schedules for the apps of a space",
                    "free": True,
                    "metadata": {"displayName": "Standard"},
                },
            ],
        },
    ],
}

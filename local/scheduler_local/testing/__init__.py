"""Start the stand-ins as processes and steer them, for tests and for the local mode's own checks.

with start_uaa() as uaa, start_controller(uaa) as cc:
    app = cc.add_app()
    cc.grant("jane", "dev", "space_developer")
    cc.script_tasks([{"state": "RUNNING", "seconds": 2}, {"state": "SUCCEEDED"}])
    cc.fault("rate_limited", path="/v3/roles", count=2, retry_after="1")
    token = uaa.token("jane")
"""

from scheduler_local.testing.echo import EchoEndpoint
from scheduler_local.testing.processes import Start, start_controller, start_echo, start_uaa
from scheduler_local.testing.standins import (
    PENDING_FOR_EVER,
    RUNNING_FOR_EVER,
    SUCCEEDED,
    MadeApp,
    ScriptedStep,
    StandIn,
    StandInController,
    StandInUaa,
    failed,
)
from scheduler_local.testing.waiting import wait_until

__all__ = [
    "PENDING_FOR_EVER",
    "RUNNING_FOR_EVER",
    "SUCCEEDED",
    "EchoEndpoint",
    "MadeApp",
    "ScriptedStep",
    "StandIn",
    "StandInController",
    "StandInUaa",
    "Start",
    "failed",
    "start_controller",
    "start_echo",
    "start_uaa",
    "wait_until",
]

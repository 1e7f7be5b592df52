"""What `docker compose up dev` says once everything runs."""

import sys

from scheduler_local.testing import StandInUaa
from tests.fixtures.processes import Spawn
from tests.fixtures.session import wait_until


def test_it_shows_a_token_and_commands_and_stays_until_stopped(spawn: Spawn, uaa: StandInUaa) -> None:
    service = spawn(
        "greeting",
        command=[sys.executable, "-m", "scheduler_local.greeting"],
        env={"SCHEDULER_URL": "http://api:8000", "UAA_ENDPOINT": uaa.url, "SCHEDULER_PUBLIC_URL": "http://127.0.0.1:1"},
        wait=False,
    )
    wait_until(lambda: "sch jobs history" in service.output(), within=30, what="it greets")
    assert "http://127.0.0.1:1" in service.output()
    assert "SCHEDULER_TOKEN='bearer ey" in service.output()
    assert service.stop() == 0

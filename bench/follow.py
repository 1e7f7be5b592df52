"""follow: 10,000 tasks that have run for over ten minutes; what following them costs, and that each ends right."""

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, text

from bench import report
from bench.burst import installation
from bench.servers import Servers, servers
from bench.services import Meter, Running, services
from scheduler.domain.guids import new_guid
from scheduler_local import seed
from scheduler_local.testing import StandInController, start_controller, start_uaa
from tests.fixtures.session import wait_until

AGE_SECONDS = 700
WARM_UP_SECONDS = 35  # after this every task has been looked at once
FAILURE = "Exited with status 3"

# Their next looks are spread as they would be after a while.
_EXECUTIONS = text("""
    INSERT INTO executions (guid, ref_type, ref_guid, space_guid, trigger, state, task_guid, created_at,
        execution_start_time, attempt, next_poll_at)
    SELECT g, 'job', :job, 'space', 'manual', 'RUNNING', t, now(), now() - :age * interval '1 second', 1,
        now() + random() * interval '30 seconds'
    FROM unnest(CAST(:guids AS uuid[]), CAST(:tasks AS text[])) AS r (g, t)
""")
_STATES = text("SELECT state, message, count(*) FROM executions GROUP BY state, message")


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=60)
    given = parser.parse_args()
    with servers() as running:
        runs = [_run(running, given.tasks, given.seconds) for _ in range(given.runs)]
    report.publish("follow", runs, tasks=given.tasks, seconds=given.seconds)


def _run(servers: Servers, count: int, seconds: int) -> dict[str, float]:
    with _cloud_foundry() as (cc, variables), installation(servers) as (engine, url, amqp):
        _add_tasks(engine, cc, count, last_for=WARM_UP_SECONDS + seconds + 20)
        with services(servers, url, amqp, ["job-runner"], variables) as (runner,):
            time.sleep(WARM_UP_SECONDS)
            figures = _measure(servers, runner, cc, seconds)
            figures["seconds_to_last_end"] = _await_ends(engine, count)
            _expect_right_ends(engine, count)
        return figures


@contextmanager
def _cloud_foundry() -> Iterator[tuple[StandInController, dict[str, str]]]:
    with start_uaa() as uaa, start_controller(uaa) as cc:
        yield (
            cc,
            {
                "CF_ENDPOINT": cc.url,
                "UAA_ENDPOINT": uaa.url,
                "CLIENT_ID": seed.CLIENT_ID,
                "CLIENT_SECRET": seed.CLIENT_SECRET,
                "no_proxy": "127.0.0.1",
            },
        )


def _add_tasks(engine: Engine, cc: StandInController, count: int, *, last_for: float) -> None:
    """Let every other task succeed in the end, and the rest fail."""
    app = cc.add_app()
    running = {"state": "RUNNING", "seconds": AGE_SECONDS + last_for}
    ends = ({"state": "SUCCEEDED"}, {"state": "FAILED", "reason": FAILURE})
    tasks = [
        guid
        for end in ends
        for guid in cc.add_tasks(app.guid, [running, end], count=count // 2, age_seconds=AGE_SECONDS)
    ]
    guids = [str(new_guid()) for _ in tasks]
    with engine.begin() as connection:
        connection.execute(_EXECUTIONS, {"job": new_guid(), "age": AGE_SECONDS, "guids": guids, "tasks": tasks})


def _measure(servers: Servers, runner: Running, cc: StandInController, seconds: int) -> dict[str, float]:
    since = time.time()
    meter = Meter(servers, [runner])
    before = meter.megabytes()["job-runner"]
    time.sleep(seconds)
    cpu, elapsed = meter.cpu_seconds(), meter.elapsed()
    looks = cc.requests(method="GET", path="/v3/tasks", since=since)
    return {
        "requests_per_second": len(looks) / elapsed,
        "busiest_second": cc.busiest_second(method="GET", path="/v3/tasks", since=since),
        "job-runner_percent_of_a_core": 100 * cpu["job-runner"] / elapsed,
        "job-runner_pss_mb": meter.megabytes()["job-runner"],
        "job-runner_pss_growth_mb": meter.megabytes()["job-runner"] - before,
    }


def _await_ends(engine: Engine, count: int) -> float:
    """Return how long it took from the first end to the last."""

    def ended() -> int:
        with engine.connect() as connection:
            return sum(row.count for row in connection.execute(_STATES) if row.state != "RUNNING")

    wait_until(lambda: ended() > 0, within=120, what="the first task has ended", every=0.1)
    begun = time.monotonic()
    wait_until(lambda: ended() == count, within=300, what="all tasks have ended", every=0.1)
    return time.monotonic() - begun


def _expect_right_ends(engine: Engine, count: int) -> None:
    with engine.connect() as connection:
        found = {(row.state, row.message): row.count for row in connection.execute(_STATES)}
    if found != {("SUCCEEDED", ""): count // 2, ("FAILED", FAILURE): count // 2}:
        sys.exit(f"WRONG ENDS: {found}")


if __name__ == "__main__":
    main()

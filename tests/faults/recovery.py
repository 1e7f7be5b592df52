"""Recovery times: one fault at a time in a world that is otherwise well, and the seconds until it is well again."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scheduler.cloudfoundry.resources import EXECUTION_LABEL
from tests.faults.building import running_world
from tests.faults.load import Load
from tests.faults.moments import SECOND, now
from tests.faults.run import RunOptions, prepare_load
from tests.faults.services import Instance, await_all
from tests.faults.settling import query
from tests.faults.world import World, WorldOptions

_SCHEDULES = 10  # due every second
_WELL_SECONDS = 6.0  # before each fault
_AWAY_SECONDS = 15.0
_SLOW_MILLISECONDS = 20_000
_GIVE_UP_SECONDS = 200.0

_FIRST_ON_TIME = """
    SELECT extract(epoch FROM min(execution_start_time)) AS at FROM executions
    WHERE trigger = 'schedule' AND scheduled_time > to_timestamp(%(after)s)
        AND execution_start_time < scheduled_time + interval '2 seconds'
"""
_LONGEST_GAP = """
    SELECT extract(epoch FROM max(gap)) AS gap FROM (
        SELECT execution_start_time - lag(execution_start_time) OVER (ORDER BY execution_start_time) AS gap
        FROM executions WHERE execution_start_time > to_timestamp(%(after)s) - interval '2 seconds'
    ) gaps
"""
_RUNNING_ON_RUNNER = """
    SELECT e.guid, p.seen_at FROM executions e JOIN processes p ON p.guid = e.runner
    WHERE e.state = 'RUNNING' AND e.trigger = 'manual'
"""
_OPEN = "SELECT count(*) FROM executions WHERE guid = ANY(%(guids)s::uuid[]) AND state IN ('PENDING', 'RUNNING')"
_QUEUED = "SELECT guid FROM executions WHERE state = 'PENDING' AND queued_at IS NOT NULL AND ref_type = 'call'"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One recovery."""

    what: str
    seconds: float
    limit: float


@dataclass(frozen=True, kw_only=True)
class Patient:
    """A world with ten calls due every second, and a slow call and a job to be run by hand."""

    world: World
    load: Load
    slow_call: str
    job: str


def measure_all(liveness_seconds: float) -> int:
    """Measure each kind in one world, print a table, and return 0 when all are within their limits."""
    services = ("api", "ticker", "call-runner", "job-runner")
    options = RunOptions(schedules=0, world=WorldOptions(liveness_seconds=liveness_seconds, services=services))
    measured = []
    with running_world(options.world) as world:
        patient = _patient(world, options)
        for measure in MEASURES:
            time.sleep(_WELL_SECONDS)
            measured += measure(patient, liveness_seconds)
    for each in measured:
        verdict = "ok" if each.seconds <= each.limit else "TOO LONG"
        print(f"{each.what:70} {each.seconds:6.1f} s of {each.limit:g} s  {verdict}", flush=True)  # noqa: T201
    return 0 if all(each.seconds <= each.limit for each in measured) else 1


def _patient(world: World, options: RunOptions) -> Patient:
    load = prepare_load(world, options)
    body = {"expression": "* * * * * *", "expression_type": "cron_expression"}
    for _ in range(_SCHEDULES):
        _must(load, "POST", f"/calls/{_create_call(load, 20)}/schedules", body)
    job = load.create_work("job", load.apps[0])
    assert job is not None
    return Patient(world=world, load=load, slow_call=_create_call(load, _SLOW_MILLISECONDS), job=job.guid)


def _create_call(load: Load, milliseconds: int) -> str:
    url = f"http://127.0.0.1:{load.world.endpoint_port}/work/{milliseconds}"
    body = {"name": f"call-{now()}", "url": url, "auth_header": "basic x"}
    return str(_must(load, "POST", f"/calls?app_guid={load.apps[0].guid}", body)["guid"])


def _must(load: Load, method: str, path: str, body: Any) -> Any:
    answer = load.client.ask(method, path, body)
    if not answer.done:
        raise RuntimeError(f"{method} {path}: {answer}")
    return answer.body


def _ticker_killed(patient: Patient, _liveness: float) -> list[Measured]:
    """Each of the tickers in turn: the longest stretch in which nothing started."""
    return [
        Measured(what=f"{ticker.name} killed: longest stretch without a start", seconds=gap, limit=3.0)
        for ticker in patient.world.of("ticker")
        for gap in [_gap_after_killing(patient.world, ticker)]
    ]


def _gap_after_killing(world: World, instance: Instance) -> float:
    killed_at = now() / SECOND
    with instance.lock:
        instance.kill()
        time.sleep(_WELL_SECONDS)
        instance.start()
    _await("a service is ready again", instance.ready)
    return float(query(world, _LONGEST_GAP, after=killed_at)[0]["gap"])


def _postgres_back(patient: Patient, _liveness: float) -> list[Measured]:
    world = patient.world
    measured = []
    for immediate in (False, True):
        world.stop_postgres(immediate=immediate)
        time.sleep(_AWAY_SECONDS)
        world.postgres.start()
        what = f"PostgreSQL back after {'immediate' if immediate else 'fast'} shutdown: first start on time"
        measured.append(Measured(what=what, seconds=_until_on_time(world), limit=5.0))
        time.sleep(_WELL_SECONDS)
    return measured


def _rabbit_back(patient: Patient, _liveness: float) -> list[Measured]:
    world = patient.world
    measured = []
    for end, word in ((world.rabbit.stop, "stopped"), (world.rabbit.kill, "killed")):
        end()
        time.sleep(_AWAY_SECONDS)
        world.rabbit.start()
        what = f"RabbitMQ back after being {word}: first start on time"
        measured.append(Measured(what=what, seconds=_until_on_time(world), limit=5.0))
        time.sleep(_WELL_SECONDS)
    return measured


def _until_on_time(world: World) -> float:
    """Return the seconds from now until something that fell due after now has started on time."""
    since = now() / SECOND
    _await("runs are on time", lambda: query(world, _FIRST_ON_TIME, after=since)[0]["at"] is not None)
    return float(query(world, _FIRST_ON_TIME, after=since)[0]["at"]) - since


def _runner_killed(patient: Patient, liveness: float) -> list[Measured]:
    """Kill both call-runners in the middle of calls: the time until these have ended, and until others run on time."""
    world = patient.world
    for _ in range(10):
        _must(patient.load, "POST", f"/calls/{patient.slow_call}/execute", {})
    _await("slow calls run", lambda: len(query(world, _RUNNING_ON_RUNNER)) == 10)
    guids = [str(row["guid"]) for row in query(world, _RUNNING_ON_RUNNER)]
    runner = world.of("call-runner")[0]
    killed_at = now() / SECOND
    with runner.lock:
        runner.kill()
        on_time = _until_on_time(world)
        _await("lost calls have ended", lambda: query(world, _OPEN, guids=guids)[0]["count"] == 0)
        seconds = now() / SECOND - killed_at
        runner.start()
    _await("a service is ready again", runner.ready)
    return [
        Measured(what="call-runner killed: its calls have ended", seconds=seconds, limit=liveness + 5),
        Measured(what="call-runner killed: the next start on time", seconds=on_time, limit=3.0),
    ]


def _messages_purged(patient: Patient, liveness: float) -> list[Measured]:
    """Let messages wait, purge them, and let runners come back: the time until the last of these runs has ended."""
    world, runners = patient.world, patient.world.of("call-runner")
    for runner in runners:
        runner.lock.acquire()
        runner.kill()
    time.sleep(_WELL_SECONDS)
    guids = [str(row["guid"]) for row in query(world, _QUEUED)]
    world.harm_queues(delete=False)
    purged_at = now() / SECOND
    for runner in runners:
        runner.start()
        runner.lock.release()
    _await("purged runs have ended", lambda: query(world, _OPEN, guids=guids)[0]["count"] == 0)
    what = f"{len(guids)} messages purged: all of these runs have ended"
    return [Measured(what=what, seconds=now() / SECOND - purged_at, limit=liveness + 5)]


def _queues_deleted(patient: Patient, _liveness: float) -> list[Measured]:
    patient.world.harm_queues(delete=True)
    seconds = _until_on_time(patient.world)
    return [Measured(what="queues deleted: the next start on time", seconds=seconds, limit=5.0)]


def _task_in_doubt(patient: Patient, liveness: float) -> list[Measured]:
    """Kill both job-runners between the creation of tasks and their recording: the time until these have ended."""
    world, runners = patient.world, patient.world.of("job-runner")
    world.controller.fault("slow", method="POST", path=r"/tasks\?", after=True, seconds=_AWAY_SECONDS, count=5)
    executions = [_must(patient.load, "POST", f"/jobs/{patient.job}/execute", {})["guid"] for _ in range(5)]
    _await("tasks are created", lambda: len(_tasks_of(world, executions)) == 5)
    killed_at = now() / SECOND
    for runner in runners:
        with runner.lock:
            runner.kill()
            runner.start()
    _await("jobs have ended", lambda: query(world, _OPEN, guids=executions)[0]["count"] == 0)
    seconds = now() / SECOND - killed_at
    if len(_tasks_of(world, executions)) != 5:
        raise RuntimeError("tasks were created twice")
    # Dead after `liveness`; then Cloud Controller is given as long to complete what it may have been asked for.
    what = "job-runners killed before recording tasks: these are found and ended"
    return [Measured(what=what, seconds=seconds, limit=2 * liveness + 20)]


def _tasks_of(world: World, executions: list[str]) -> list[str]:
    return [task["guid"] for task in world.controller.tasks() if task["labels"].get(EXECUTION_LABEL) in executions]


MEASURES = (
    _ticker_killed,
    _postgres_back,
    _rabbit_back,
    _queues_deleted,
    _runner_killed,
    _messages_purged,
    _task_in_doubt,
)


def _await(what: str, condition: Callable[[], bool]) -> None:
    if await_all({what: condition}, seconds=_GIVE_UP_SECONDS):
        raise RuntimeError(f"{what}: not within {_GIVE_UP_SECONDS:g} s")

"""The end of a run: doubts are settled, everything is paused, and when it is quiet all is collected."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock
from typing import Any

import psycopg2
from psycopg2.extras import RealDictCursor

from scheduler.cloudfoundry.resources import EXECUTION_LABEL
from tests.faults.client import Answer
from tests.faults.definitions import Suits
from tests.faults.history import Fault, Hit, Observations, Phase, Row, SeenTask, Timeline
from tests.faults.load import Held, Load
from tests.faults.moments import SECOND, moment, now, parse
from tests.faults.oracle import Interval, Shape
from tests.faults.world import World

_ROWS = """
    SELECT guid, ref_type, ref_guid, schedule_guid, trigger, state, reason, message, scheduled_time, created_at,
        queued_at, execution_start_time, execution_end_time, attempt, serial, covers_from, covers_to, covers_count,
        task_guid, idempotency_key
    FROM executions ORDER BY created_at
"""
_INTERVALS_BACK = 10_000
_OPEN = "SELECT count(*) FROM executions WHERE state IN ('PENDING', 'RUNNING')"


def settle(load: Load) -> int:
    """Find out what became of unclear requests, pause everything, and return the moment before the first pause."""
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda held: _settle(load, held), [held for held in load.held if held.doubt]):
            pass
    _adopt(load)
    until = now()
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda held: _pause(load, held), [held for held in load.held if not held.gone]):
            pass
    return until


def _settle(load: Load, held: Held) -> None:
    doubted = held.doubted
    assert doubted is not None
    answer = _insist(load, "GET", f"{held.path}/schedules/{held.timeline.guid}")
    if answer.status == 404:
        held.gone = True
        if doubted.shape is None:
            held.timeline.phases.append(replace(doubted, hi=answer.hi))
    elif doubted.shape is not None and _was_carried_out(answer.body, doubted):
        shape = _anchored(doubted.shape, answer.body)
        held.timeline.phases.append(replace(doubted, shape=shape, hi=answer.hi))


def _anchored(shape: Shape, body: dict[str, Any]) -> Shape:
    """Return the shape with an anchor that lies some intervals before the next run that is shown."""
    if not isinstance(shape, Interval) or shape.anchor:
        return shape
    shown = body["next_run_at"] or body["created_at"]
    return replace(shape, anchor=parse(shown) - _INTERVALS_BACK * shape.seconds * SECOND)


def _was_carried_out(body: dict[str, Any], doubted: Phase) -> bool:
    assert doubted.shape is not None
    return bool(
        body["expression"] == doubted.shape.expression
        and body["overlap"] == doubted.rules.overlap
        and body["misfire"]["policy"] == doubted.rules.misfire
        and body["enabled"] == doubted.enabled
    )


def _adopt(load: Load) -> None:
    """Take up schedules whose creation was carried out although the answer was lost."""
    known = {held.timeline.guid for held in load.held}
    for path, asked, wish in load.unclear_works:
        answer = _insist(load, "GET", f"{path}/schedules")
        for body in answer.body["resources"] if answer.done else ():
            if body["guid"] in known:
                continue
            phase = Phase(lo=asked.lo, hi=answer.hi, shape=_anchored(wish.shape, body), rules=wish.rules)
            ref = path.rpartition("/")[2]
            timeline = Timeline(guid=body["guid"], kind=path.split("/")[1].rstrip("s"), ref=ref, phases=[phase])
            once = wish.expression_type == "one_time"
            suits = Suits(often=False, serialize=False)  # nobody changes it any more
            load.held.append(Held(timeline=timeline, path=path, lock=Lock(), once=once, suits=suits))


def _pause(load: Load, held: Held) -> None:
    answer = _insist(load, "POST", f"{held.path}/schedules/{held.timeline.guid}/actions/pause", {})
    if answer.done:
        held.timeline.phases.append(replace(held.last, lo=answer.lo, hi=answer.hi, enabled=False))
    elif not (held.once and answer.status == 404):
        load.complain(f"the last pause: {answer.status} {answer.body} for {held.timeline.guid}")


def _insist(load: Load, method: str, path: str, body: Any = None) -> Answer:
    """Ask until there is an answer; a 401 or 403 only says that UAA or Cloud Controller was not heard."""
    for _ in range(60):
        answer = load.client.ask(method, path, body)
        if not answer.unclear and answer.status not in {401, 403}:
            return answer
        time.sleep(1)
    return answer


def await_quiet(world: World, seconds: float) -> bool:
    """Wait until no execution is PENDING or RUNNING; return whether that came in time."""
    return _await(lambda: query(world, _OPEN)[0]["count"] == 0, seconds)


def _await(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.5)
    return True


def collect(world: World, load: Load, faults: list[Fault], until: int) -> Observations:
    """Return all that was asked for and seen."""
    return Observations(
        timelines=[held.timeline for held in load.held],
        work=load.work,
        manual=load.manual,
        rows=[_row(each) for each in query(world, _ROWS)],
        hits=[_hit(each) for each in world.endpoint.hits()],
        tasks=[_task(each) for each in world.controller.tasks()],
        faults=faults,
        until=until,
        liveness_seconds=world.options.liveness_seconds,
        complaints=load.complaints,
        endings=[ending for instance in world.instances for ending in instance.endings],
    )


def query(world: World, statement: str, **parameters: Any) -> list[dict[str, Any]]:
    """Ask the database directly."""
    connection = psycopg2.connect(world.database_url, cursor_factory=RealDictCursor)
    try:
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            return [dict(row) for row in cursor.fetchall()]
    finally:
        connection.close()


def _row(found: dict[str, Any]) -> Row:
    return Row(
        guid=str(found["guid"]),
        kind=found["ref_type"],
        ref=str(found["ref_guid"]),
        schedule=str(found["schedule_guid"]) if found["schedule_guid"] else None,
        trigger=found["trigger"],
        state=found["state"],
        reason=found["reason"],
        message=found["message"],
        scheduled=moment(found["scheduled_time"]),
        created=_moment(found["created_at"]),
        queued=moment(found["queued_at"]),
        started=moment(found["execution_start_time"]),
        ended=moment(found["execution_end_time"]),
        attempt=found["attempt"],
        serial=found["serial"],
        covers_from=moment(found["covers_from"]),
        covers_to=moment(found["covers_to"]),
        covers_count=found["covers_count"],
        task=found["task_guid"],
        key=found["idempotency_key"],
    )


def _moment(instant: Any) -> int:
    found = moment(instant)
    assert found is not None
    return found


def _hit(found: dict[str, Any]) -> Hit:
    return Hit(**{name: found[name] for name in ("execution", "schedule", "attempt", "arrived", "done", "status")})


def _task(found: dict[str, Any]) -> SeenTask:
    return SeenTask(
        guid=found["guid"],
        execution=found["labels"].get(EXECUTION_LABEL, ""),
        created=parse(found["created_at"]),
        state=found["state"],
        failure=found["failure_reason"],
    )

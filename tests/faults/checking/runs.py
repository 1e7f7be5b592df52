"""What ran: no attempt twice, no second task, no serial runs side by side, nothing deleted, nothing left open."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from tests.faults.checking.cases import Evidence, Violation
from tests.faults.history import Hit, Row, SeenTask
from tests.faults.moments import SECOND, show

FINAL = frozenset({"SUCCEEDED", "FAILED", "SKIPPED"})
NEVER_STARTED = frozenset({"too_late", "deleted", "cancelled", "not_recorded"})
# The outcome that the scheduler saw came before the end of the work, so the next run may begin beside it.
GAVE_UP = frozenset({"runner_lost", "interrupted", "timeout", "connect_error"})
SEND_SECONDS = 35  # a request may lie in a held connection or a stopped process for so long after its claim


def attempts_kept(evidence: Evidence) -> Iterator[Violation]:
    """No attempt reached the endpoint twice, and there were no more attempts than the call allows."""
    for execution, hits in evidence.hits.items():
        row = evidence.rows.get(execution)
        if row is None:
            yield Violation(rule="a run without a record", execution=execution, text=f"{len(hits)} hits")
            continue
        twice = [attempt for attempt, count in Counter(hit.attempt for hit in hits).items() if count > 1]
        if twice:
            yield _of(row, "a call twice", f"attempt {twice[0]} arrived {len(hits)} times")
        work = evidence.seen.work.get(row.ref)
        if work and len({hit.attempt for hit in hits}) > work.max_attempts:
            yield _of(row, "a call twice", f"{len(hits)} attempts of {work.max_attempts}")


def one_task_each(evidence: Evidence) -> Iterator[Violation]:
    """No execution has two tasks, unless the second one was cancelled; no task goes on unfollowed."""
    for execution, tasks in evidence.tasks.items():
        row = evidence.rows.get(execution)
        if row is None:
            yield Violation(rule="a run without a record", execution=execution, text=f"task {tasks[0].guid}")
            continue
        kept = [task for task in tasks if not task.cancelled]
        if len(kept) > 1:
            yield _of(row, "two tasks", f"{', '.join(task.guid for task in kept)}")
        yield from (
            _of(row, "a task unfollowed", f"{task.guid} is {task.state}, the execution {row.state}")
            for task in tasks
            if task.state in {"PENDING", "RUNNING"} and row.state in FINAL
        )


def nothing_left(evidence: Evidence) -> Iterator[Violation]:
    """Every execution has ended."""
    for row in evidence.seen.rows:
        if row.state not in FINAL:
            yield _of(row, "left open", f"{row.state} since {show(row.started or row.created)}")


def outcomes_true(evidence: Evidence) -> Iterator[Violation]:
    """What a row says is what endpoint and Cloud Controller saw."""
    tasks = {task.guid: task for found in evidence.tasks.values() for task in found}
    for row in evidence.seen.rows:
        if row.state == "SUCCEEDED" and row.kind == "call":
            if not any(hit.status is not None and hit.status < 300 for hit in evidence.hits.get(row.guid, ())):
                yield _of(row, "a false outcome", "SUCCEEDED, but the endpoint answered no attempt with success")
        elif row.state == "SUCCEEDED":
            task = tasks.get(row.task or "")
            if task is None or task.state != "SUCCEEDED":
                yield _of(row, "a false outcome", f"SUCCEEDED, but its task is {task.state if task else 'unknown'}")
        elif row.reason in NEVER_STARTED and row.started is None and evidence.hits.get(row.guid):
            yield _of(row, "a false outcome", f"{row.reason}, but it arrived at the endpoint")


def losses_explained(evidence: Evidence) -> Iterator[Violation]:
    """A run is only given up as lost when something happened to its runner or to the ways from it."""
    limit = evidence.seen.liveness_seconds
    for row in evidence.seen.rows:
        if row.reason in {"runner_lost", "interrupted"} and row.started is not None:
            began = row.started - int(2 * limit * SECOND)
            if not evidence.faults_between(began, row.ended or evidence.seen.until):
                yield _of(row, "lost without a cause", f"{row.reason} at {show(row.ended)}; nothing had gone wrong")


def serial_kept(evidence: Evidence) -> Iterator[Violation]:
    """Runs of one serial schedule never overlap."""
    for case in evidence.cases:
        serial = [row for row in case.rows if row.serial]
        yield from _overlapping_hits(evidence, serial)
        yield from _overlapping_rows(evidence, serial)


def _overlapping_hits(evidence: Evidence, rows: list[Row]) -> Iterator[Violation]:
    hits = sorted(
        ((hit, row) for row in rows for hit in evidence.hits.get(row.guid, ())), key=lambda pair: pair[0].arrived
    )
    for (first, row), (second, other) in pairwise(hits):
        if second.arrived < _end_of(first) and row is not other and not _given_up(row):
            text = f"{other.guid} arrived at {show(second.arrived)}, {row.guid} was there until {show(first.done)}"
            yield _of(row, "serial runs overlap", text)


def _end_of(hit: Hit) -> int:
    return hit.done if hit.done is not None else hit.arrived


def _given_up(row: Row) -> bool:
    # With several attempts the row only tells about the last one.
    return row.reason in GAVE_UP or row.attempt > 1


def _overlapping_rows(evidence: Evidence, rows: list[Row]) -> Iterator[Violation]:
    ran = sorted((row for row in rows if row.started is not None), key=lambda row: row.started or 0)
    for row, other in pairwise(ran):
        ended = evidence.live_until(row)
        if ended is not None and (other.started or 0) < ended and not _given_up(row):
            text = f"{other.guid} started at {show(other.started)}, {row.guid} ended at {show(row.ended)}"
            yield _of(other, "serial runs overlap", text)


def nothing_after_deletion(evidence: Evidence) -> Iterator[Violation]:
    """What was deleted is not planned, started or sent any more."""
    for case in evidence.cases:
        gone = next((phase for phase in case.timeline.phases if phase.shape is None), None)
        for row in case.rows if gone else ():
            assert gone is not None
            fault = _fault_after_deletion(evidence, row, gone.hi)
            if fault:
                yield _of(row, "ran after deletion", f"{fault}, deleted at {show(gone.hi)}")


def _fault_after_deletion(evidence: Evidence, row: Row, deleted: int) -> str:
    if row.created > deleted:
        return f"planned at {show(row.created)}"
    # A job whose runner was lost is claimed again to look for its task, deleted or not.
    if row.kind == "call" and row.runs and (row.started or 0) > deleted:
        return f"started at {show(row.started)}"
    sent = [hit.arrived for hit in evidence.hits.get(row.guid, ())]
    sent += [task.created for task in evidence.tasks.get(row.guid, ()) if not task.cancelled]
    if any(at > deleted + SEND_SECONDS * SECOND for at in sent):
        return f"arrived at {show(max(sent))}"
    return ""


def manual_runs_once(evidence: Evidence) -> Iterator[Violation]:
    """Each acknowledged execute and trigger is exactly one execution, the one that was answered."""
    by_key = Counter(row.key for row in evidence.seen.rows if row.key)
    for row in evidence.seen.rows:
        if row.key and by_key[row.key] > 1:
            yield _of(row, "a manual run twice", f"{by_key[row.key]} executions of one key")
    for execution in evidence.seen.manual.values():
        if execution not in evidence.rows:
            yield Violation(rule="a manual run lost", execution=execution, text="it was acknowledged")


def second_tasks(evidence: Evidence) -> list[SeenTask]:
    """Return the second tasks of executions that were cancelled: the documented exception."""
    return [task for tasks in evidence.tasks.values() if len(tasks) > 1 for task in tasks if task.cancelled]


def hits_after_loss(evidence: Evidence) -> list[Hit]:
    """Return the hits that arrived after the run had been given up as lost: the documented window."""
    return [
        hit
        for execution, hits in evidence.hits.items()
        for hit in hits
        if (row := evidence.rows.get(execution)) and row.reason in GAVE_UP and row.ended and hit.arrived > row.ended
    ]


def _of(row: Row, rule: str, text: str) -> Violation:
    return Violation(rule=rule, schedule=row.schedule, execution=row.guid, text=f"{row.guid}: {text}")


def answers_expected(evidence: Evidence) -> Iterator[Violation]:
    """Nobody was answered what nobody should be answered."""
    for complaint in evidence.seen.complaints:
        yield Violation(rule="an unexpected answer", text=complaint)


def processes_obedient(evidence: Evidence) -> Iterator[Violation]:
    """No service ended by itself, and each one that was asked to end did so in time."""
    for ending in evidence.seen.endings:
        yield Violation(rule="a process", text=ending)

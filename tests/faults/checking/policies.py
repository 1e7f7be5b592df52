"""Each record is the one that the policy in force asks for."""

from bisect import bisect_left
from collections.abc import Iterator

from tests.faults.checking.cases import Case, Due, Evidence, Violation
from tests.faults.history import Phase, Row
from tests.faults.moments import SECOND, show
from tests.faults.oracle import Once

# How far `created_at` (the planning transaction's own now) may stand from the now that the planning went by.
NOW_SLACK = SECOND // 2
# A tick reads what is live a moment after its own now; it may lie stopped in between until PostgreSQL ends it.
READ_SLACK = 20 * SECOND
_LOOK_BACK = 60  # rows of a schedule; older ones are not live any more
REST = frozenset({"paused", "review"})


def planned_as_asked(evidence: Evidence) -> Iterator[Violation]:
    """Missed, overlapping and paused instants became what the schedule's policies say."""
    for case in evidence.cases:
        following = {id(phase): after for phase, _, after in case.stretches()}
        for due in case.certain:
            for row in case.records(due.at):
                fault = _fault(case, due, row, following[id(due.phase)])
                if fault:
                    text = f"{show(due.at)}, recorded at {show(row.created)} as {_describe(row)}: {fault}"
                    yield Violation(rule="wrong policy", schedule=case.timeline.guid, execution=row.guid, text=text)


def _describe(row: Row) -> str:
    return f"{row.trigger} {row.state} {row.reason or ''}".strip()


def _fault(case: Case, due: Due, row: Row, following: Phase | None) -> str:
    if not due.phase.enabled:
        return _fault_in_pause(case, row, following)
    if row.state == "SKIPPED":
        return _fault_of_skip(case, due, row)
    return _fault_of_run(due, row)


def _fault_of_run(due: Due, row: Row) -> str:
    rules = due.phase.rules
    late, grace = row.created - due.at, rules.grace_seconds * SECOND
    wanted = {"misfire": "run_once", "catch_up": "catch_up"}.get(row.trigger)
    if wanted is not None:
        if rules.misfire != wanted:
            return f"the policy is {rules.misfire}"
        return "" if late >= grace - NOW_SLACK else "it was not missed"
    # The misfire rules touch a one-time schedule only where they say skip.
    is_exempt = isinstance(due.phase.shape, Once) and rules.misfire != "skip"
    return "" if is_exempt or late <= grace + NOW_SLACK else f"it was {late / SECOND:.1f} s late, so it was missed"


def _fault_of_skip(case: Case, due: Due, row: Row) -> str:
    rules = due.phase.rules
    if row.reason == "misfire":
        if rules.misfire != "skip":
            return f"the policy is {rules.misfire}"
        # The row grows with what is skipped next, so only its first instant was surely late when it was made.
        late = row.created - (row.covers_from or due.at)
        return "" if late >= rules.grace_seconds * SECOND - NOW_SLACK else "it was not missed"
    if row.reason == "overlap":
        if rules.overlap not in {"skip", "wait"}:
            return f"overlap is {rules.overlap}"
        return "" if _something_was_live(case, row, due.at) else "nothing of the schedule was live"
    if row.reason in REST:
        return "" if rules.misfire == "catch_up" and _is_rest(case, row, due.phase) else f"it was not {row.reason}"
    return "no such reason belongs to an instant of an active schedule"


def _is_rest(case: Case, row: Row, since: Phase) -> bool:
    """Tell whether the row may be the rest of a catch-up of that phase, cut short by a later change."""
    return row.reason in REST and case.changed_at(row.created, since=since, slack=NOW_SLACK)


def _something_was_live(case: Case, skipped: Row, at: int) -> bool:
    return any(
        row.runs
        and row is not skipped
        and (row.ended is None or row.ended >= at - NOW_SLACK)
        and row.created <= max(skipped.created, at) + READ_SLACK
        for row in case.rows
    )


def _fault_in_pause(case: Case, row: Row, following: Phase | None) -> str:
    if following is None or following.shape is None or not following.enabled:
        return "it ran although it was paused" if row.runs else ""
    if row.created < following.lo - NOW_SLACK and row.runs:
        return "it ran while it was paused"
    return _fault_after_resume(case, row, following)


def _fault_after_resume(case: Case, row: Row, resumed: Phase) -> str:
    resume = resumed.resume or "skip_paused"
    if row.state == "SKIPPED" and row.reason == "overlap" and resumed.rules.overlap in {"skip", "wait"}:
        return "" if resume != "skip_paused" else "it was to be skipped as paused"
    wanted = {
        "skip_paused": row.state == "SKIPPED" and row.reason == "paused",
        "run_once": row.runs and row.trigger == "misfire",
        "catch_up": (row.runs and row.trigger == "catch_up") or _is_rest(case, row, resumed),
    }[resume]
    return "" if wanted else f"it was resumed with {resume}"


def one_covers_all(evidence: Evidence) -> Iterator[Violation]:
    """A run that makes up for missed ones stands for all of them: the instant before it was no missed one."""
    for case in evidence.cases:
        instants = [due.at for due in case.certain]
        phases = {due.at: due.phase for due in case.certain}
        for row in case.covering:
            first = row.covers_from or 0
            position = bisect_left(instants, first)
            if row.trigger != "misfire" or not 0 < position < len(instants):
                continue  # what is in doubt is the first or the last of what was surely due
            if instants[position - 1] <= phases[instants[position]].hi:
                continue
            before = case.records(instants[position - 1])
            if any(other.created == row.created and other.trigger in {"misfire", "schedule"} for other in before):
                text = f"the run for {show(first)} and later does not cover {show(instants[position - 1])}"
                yield Violation(rule="wrong policy", schedule=case.timeline.guid, execution=row.guid, text=text)


def overlap_kept(evidence: Evidence) -> Iterator[Violation]:
    """With overlap `skip` nothing was planned beside a live run; with `wait` one may wait beside the one that runs."""
    for case in evidence.cases:
        for position, row in enumerate(case.rows):
            before = [other for other in case.rows[max(0, position - _LOOK_BACK) : position] if other.runs]
            fault = _overlap_fault(evidence, case, row, before) if row.runs else ""
            if fault:
                yield Violation(rule="overlap", schedule=case.timeline.guid, execution=row.guid, text=fault)


def _overlap_fault(evidence: Evidence, case: Case, row: Row, before: list[Row]) -> str:
    at = row.created + NOW_SLACK
    running = [other for other in before if _started(other) <= at < (evidence.live_until(other) or at + 1)]
    waiting = [other for other in before if _started(other) > at]
    if _planned_under(case, row, "skip") and running + waiting:
        return f"{row.guid} was planned beside {(running + waiting)[0].guid}"
    # While none runs, the oldest that is PENDING is on its way and does not wait.
    if _planned_under(case, row, "wait") and len(waiting) > (0 if running else 1):
        return f"{row.guid} was planned while {waiting[-1].guid} was waiting"
    return ""


def _started(row: Row) -> int:
    """Return when the row stopped waiting; one that may have been put back by a lost runner counts as running."""
    if row.started is None:
        return row.ended or row.created
    put_back = row.attempt != 1 or row.kind == "job"
    return row.created if put_back else row.started


def _planned_under(case: Case, row: Row, overlap: str) -> bool:
    """Tell whether this rule was surely in force when the row was made by the timetable."""
    if row.trigger not in {"schedule", "catch_up", "misfire"}:
        return False
    surely = [phase for phase, end, _ in case.stretches() if phase.hi < row.created < end]
    return bool(surely) and surely[0].rules.overlap == overlap and surely[0].shape is not None

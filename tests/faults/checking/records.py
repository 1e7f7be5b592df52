"""Each due instant is recorded exactly once, and nothing is recorded that was not due."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from tests.faults.checking.cases import Case, Evidence, Violation
from tests.faults.history import Row
from tests.faults.moments import show


def recorded_once(evidence: Evidence) -> Iterator[Violation]:
    """Every due instant has exactly one record."""
    for case in evidence.cases:
        must = _must_be_recorded(case)
        for due in case.certain:
            found = case.records(due.at)
            if len(found) > 1:
                text = f"{show(due.at)} is recorded {len(found)} times: {', '.join(row.guid for row in found)}"
                yield Violation(rule="an instant twice", schedule=case.timeline.guid, text=text)
            elif not found and due.at <= must.get(id(due.phase), 0):
                yield Violation(
                    rule="an instant lost", schedule=case.timeline.guid, text=f"{show(due.at)} is not recorded"
                )


def _must_be_recorded(case: Case) -> dict[int, int]:
    """Return, by phase, up to which moment its instants must be recorded: those of a pause are when it has ended."""
    limits = {}
    for phase, end, following in case.stretches():
        has_ended = following is not None and following.enabled and following.shape is not None
        limits[id(phase)] = end if phase.enabled or has_ended else 0
    return limits


def recorded_only_when_due(evidence: Evidence) -> Iterator[Violation]:
    """Every record is about instants that were due, and counts them rightly."""
    for case in evidence.cases:
        for at, rows in case.own.items():
            if at not in case.possible and at <= case.until:
                text = f"{show(at)} was not due but is recorded by {rows[0].guid}"
                yield Violation(rule="not due", schedule=case.timeline.guid, text=text)
        certain, possible = [due.at for due in case.certain], sorted(case.possible)
        for row in case.covering:
            fault = _count_fault(row, certain, possible)
            if fault and (row.covers_to or 0) <= case.until:
                yield Violation(rule="wrong range", schedule=case.timeline.guid, execution=row.guid, text=fault)


def _count_fault(row: Row, certain: list[int], possible: list[int]) -> str:
    first, last = row.covers_from or 0, row.covers_to or 0
    least, most = _within(certain, first, last), _within(possible, first, last)
    if not _within(possible, first, first) or not _within(possible, last, last):
        return f"{show(first)} to {show(last)} does not begin and end with instants that were due"
    if row.covers_count is None or not least <= row.covers_count <= most:
        return f"{show(first)} to {show(last)} counts {row.covers_count}, not {least} to {most}"
    return ""


def _within(instants: list[int], first: int, last: int) -> int:
    return bisect_right(instants, last) - bisect_left(instants, first)

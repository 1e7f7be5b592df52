"""How late runs started, and how long it took to come back after each kind of fault."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tests.faults.checking.cases import Evidence
from tests.faults.history import Row
from tests.faults.moments import SECOND

QUIET_SECONDS = 20.0  # a run counts as undisturbed when no fault was in force, or just over, in its life


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Seconds: the median, the 99th percentile, the worst, and of how many."""

    count: int
    median: float
    p99: float
    worst: float


def spread(seconds: Sequence[float]) -> Spread:
    """Return how the seconds are spread; all zero when there are none."""
    ordered = sorted(seconds)
    if not ordered:
        return Spread(count=0, median=0.0, p99=0.0, worst=0.0)
    last = len(ordered) - 1
    return Spread(count=len(ordered), median=ordered[last // 2], p99=ordered[last * 99 // 100], worst=ordered[last])


def undisturbed_lateness(evidence: Evidence) -> Spread:
    """Return how late ordinary runs started while nothing was wrong."""
    found = []
    for row in _ordinary(evidence):
        assert row.scheduled is not None
        assert row.started is not None
        if not evidence.faults_between(row.scheduled, row.started, settle_seconds=QUIET_SECONDS):
            found.append((row.started - row.scheduled) / SECOND)
    return spread(found)


def recoveries(evidence: Evidence) -> dict[str, Spread]:
    """Return, by kind of fault, how long after it something that fell due after it had started on time (within 2 s)."""
    ordinary = sorted(_ordinary(evidence), key=lambda row: row.scheduled or 0)
    found: dict[str, list[float]] = defaultdict(list)
    for fault in evidence.seen.faults:
        seconds = _recovery(ordinary, fault.ended)
        if seconds is not None:
            found[fault.kind].append(seconds)
    return {kind: spread(each) for kind, each in sorted(found.items())}


def _recovery(ordinary: Sequence[Row], healed: int) -> float | None:
    for row in ordinary:
        assert row.scheduled is not None
        assert row.started is not None
        if row.scheduled >= healed and row.started - row.scheduled <= 2 * SECOND:
            return (row.started - healed) / SECOND
    return None


def _ordinary(evidence: Evidence) -> list[Row]:
    return [
        row
        for row in evidence.seen.rows
        if row.trigger == "schedule" and row.started and row.attempt == 1 and not row.serial and row.scheduled
    ]

"""The observations sorted by what the rules ask about: one schedule with its rows, one execution with its hits."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from tests.faults.history import Fault, Hit, Observations, Phase, Row, SeenTask, Timeline
from tests.faults.moments import SECOND

T = TypeVar("T", Hit, SeenTask)


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A rule that was broken, and by whom."""

    rule: str
    text: str
    schedule: str | None = None
    execution: str | None = None


@dataclass(frozen=True, kw_only=True)
class Due:
    """An instant at which something was due under one phase."""

    at: int
    phase: Phase


class Case:
    """One schedule: what was due, and the rows that say what became of it."""

    def __init__(self, timeline: Timeline, rows: Sequence[Row], until: int) -> None:
        self.timeline = timeline
        self.until = until
        self.rows = sorted(rows, key=lambda row: (row.created, row.scheduled or row.created))
        planned = [row for row in self.rows if row.scheduled is not None]
        self.own: dict[int, list[Row]] = defaultdict(list)
        for row in planned:
            if row.scheduled is not None and not row.covers:
                self.own[row.scheduled].append(row)
        self.covering = sorted((row for row in planned if row.covers), key=lambda row: row.covers_from or 0)
        self._starts = [row.covers_from or 0 for row in self.covering]
        self._longest = max(((row.covers_to or 0) - (row.covers_from or 0) for row in self.covering), default=0)

    def records(self, at: int) -> list[Row]:
        """Return the rows that say what became of the instant."""
        found = list(self.own.get(at, ()))
        position = bisect_right(self._starts, at)
        while position and self._starts[position - 1] >= at - self._longest:
            position -= 1
            if (self.covering[position].covers_to or 0) >= at:
                found.append(self.covering[position])
        return found

    def stretches(self) -> Iterator[tuple[Phase, int, Phase | None]]:
        """Yield each phase with the moment until which it is surely in force, and the phase that follows."""
        phases = self.timeline.phases
        for phase, following in zip(phases, [*phases[1:], None], strict=True):
            yield phase, min(following.lo, self.until) if following else self.until, following

    @cached_property
    def certain(self) -> list[Due]:
        """The instants that were due whatever happened within the windows of changes."""
        found = []
        for phase, end, _ in self.stretches():
            if phase.shape is not None and end > phase.hi:
                found += [Due(at=at, phase=phase) for at in phase.shape.due(phase.hi, end)]
        return found

    @cached_property
    def possible(self) -> frozenset[int]:
        """Every instant that may have been due, those within the windows included."""
        found = {due.at for due in self.certain}
        for phase, _, following in self.stretches():
            if phase.shape is not None:
                found.update(phase.shape.due(phase.lo, phase.hi))
                found.update(phase.shape.due(following.lo, following.hi) if following else ())
        return frozenset(found)

    def changed_at(self, at: int, *, since: Phase, slack: int) -> bool:
        """Tell whether the moment lies within the window of a change that came after that phase."""
        later = [phase for phase in self.timeline.phases if phase.lo > since.lo]
        return any(phase.lo - slack <= at <= phase.hi + slack for phase in later)


class Evidence:
    """All observations, indexed."""

    def __init__(self, seen: Observations) -> None:
        self.seen = seen
        self.rows = {row.guid: row for row in seen.rows}
        self.hits = _by_execution(seen.hits)
        self.tasks = _by_execution(seen.tasks)
        by_schedule: dict[str, list[Row]] = defaultdict(list)
        for row in seen.rows:
            if row.schedule is not None:
                by_schedule[row.schedule].append(row)
        self.cases = [Case(each, by_schedule[each.guid], seen.until) for each in seen.timelines]
        self.ended_at = max((row.ended or 0 for row in seen.rows), default=seen.until)

    def live_until(self, row: Row) -> int | None:
        """Return until when a run surely counted as live, None while it does.

        An outcome that was written long after the work was done may have come after the rescue had given the run up,
        and replaced that; the row does not tell when others could go on.
        """
        done = [hit.done or hit.arrived for hit in self.hits.get(row.guid, ())]
        patience = int(self.seen.liveness_seconds / 3 * SECOND)
        if row.ended is not None and done and row.ended - max(done) > patience:
            return max(done)
        return row.ended

    def faults_between(self, began: int, ended: int, *, settle_seconds: float = 0.0) -> list[Fault]:
        """Return the faults that were in force, or over for less than `settle_seconds`, within the stretch."""
        settle = int(settle_seconds * SECOND)
        return [fault for fault in self.seen.faults if fault.began <= ended and fault.ended + settle >= began]


def _by_execution(things: Sequence[T]) -> dict[str, list[T]]:
    found: dict[str, list[T]] = defaultdict(list)
    for thing in things:
        found[thing.execution].append(thing)
    return found

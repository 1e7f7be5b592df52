"""The verdict: every rule with what it looked at and what broke it, as a table, and the history of offenders."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tests.faults.checking import policies, records, runs
from tests.faults.checking.cases import Case, Evidence, Violation
from tests.faults.checking.lateness import Spread, recoveries, undisturbed_lateness
from tests.faults.history import Hit, Observations, Row, SeenTask
from tests.faults.moments import SECOND, show

RULES: Sequence[tuple[str, Callable[[Evidence], Iterator[Violation]]]] = (
    ("each due instant has exactly one record", records.recorded_once),
    ("nothing is recorded that was not due", records.recorded_only_when_due),
    ("each record is what the policy asks for", policies.planned_as_asked),
    ("one run makes up for all missed instants", policies.one_covers_all),
    ("overlap skip and wait are kept", policies.overlap_kept),
    ("no call beyond its attempts", runs.attempts_kept),
    ("no two tasks for one execution", runs.one_task_each),
    ("each manual run exactly once", runs.manual_runs_once),
    ("nothing left PENDING or RUNNING", runs.nothing_left),
    ("outcomes say what was seen", runs.outcomes_true),
    ("lost runs have a cause", runs.losses_explained),
    ("serial runs never overlap", runs.serial_kept),
    ("nothing ran after its deletion", runs.nothing_after_deletion),
    ("answers are as promised", runs.answers_expected),
    ("processes end when asked, and only then", runs.processes_obedient),
)
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the rules found."""

    violations: dict[str, list[Violation]]  # by rule, in the order of RULES; empty lists included
    counts: dict[str, int]
    faults: dict[str, int]
    lateness: Spread
    recoveries: dict[str, Spread]
    offenders: Sequence[str]  # histories

    @property
    def clean(self) -> bool:
        """Tell whether no rule was broken."""
        return not any(self.violations.values())

    @property
    def broken(self) -> set[str]:
        """Return the names of the violations found."""
        return {violation.rule for found in self.violations.values() for violation in found}


def judge(seen: Observations) -> Verdict:
    """Apply every rule."""
    evidence = Evidence(seen)
    violations = {name: list(rule(evidence)) for name, rule in RULES}
    return Verdict(
        violations=violations,
        counts=_counts(evidence),
        faults=dict(sorted(Counter(fault.kind for fault in seen.faults).items())),
        lateness=undisturbed_lateness(evidence),
        recoveries=recoveries(evidence),
        offenders=[_history(evidence, violation) for found in violations.values() for violation in found[:SHOWN]],
    )


def _counts(evidence: Evidence) -> dict[str, int]:
    seen = evidence.seen
    states = Counter(row.state for row in seen.rows)
    reasons = Counter(row.reason for row in seen.rows if row.reason)
    return {
        "schedules": len(seen.timelines),
        "changes asked for": sum(len(each.phases) - 1 for each in seen.timelines),
        "due instants": sum(len(case.certain) for case in evidence.cases),
        "executions": len(seen.rows),
        **{f"  {state}": count for state, count in sorted(states.items())},
        **{f"  reason {reason}": count for reason, count in sorted(reasons.items())},
        "requests at the endpoint": len(seen.hits),
        "tasks at Cloud Controller": len(seen.tasks),
        "manual runs": len(seen.manual),
        "allowed: arrived after the run was given up": len(runs.hits_after_loss(evidence)),
        "allowed: second task, cancelled": len(runs.second_tasks(evidence)),
        "faults": len(seen.faults),
    }


def table(verdict: Verdict) -> str:
    """Return the verdict as text, fit for a Markdown code block."""
    lines = [f"{name:58} {count:>8}" for name, count in verdict.counts.items()]
    lines += ["", *(f"fault: {kind:51} {count:>8}" for kind, count in verdict.faults.items())]
    spread = verdict.lateness
    lines += ["", f"undisturbed start after its instant (s): {_show(spread)}"]
    lines += [f"on time again after {kind} (s): {_show(each)}" for kind, each in verdict.recoveries.items()]
    lines += ["", *(f"{name:58} {_verdict_of(found):>8}" for name, found in verdict.violations.items())]
    return "\n".join([*lines, "", "VERDICT: " + ("nothing lost, nothing doubled" if verdict.clean else "VIOLATED")])


def report(verdict: Verdict) -> str:
    """Return the table and, where rules were broken, the first offenders with their histories."""
    parts = [table(verdict)]
    for name, found in verdict.violations.items():
        if found:
            parts.append(f"\n{name}: {len(found)} violations")
            parts += [f"  {each.rule}: {each.text}" for each in found[:SHOWN]]
    return "\n".join([*parts, *verdict.offenders])


def _show(spread: Spread) -> str:
    return f"median {spread.median:.2f}, p99 {spread.p99:.2f}, worst {spread.worst:.2f} of {spread.count}"


def _verdict_of(found: Sequence[Violation]) -> str:
    return f"{len(found)} BAD" if found else "ok"


def _history(evidence: Evidence, violation: Violation) -> str:
    case = next((each for each in evidence.cases if each.timeline.guid == violation.schedule), None)
    row = evidence.rows.get(violation.execution or "")
    around = row.created if row else 0
    lines = [f"\n--- {violation.rule}: {violation.text}"]
    if case is not None:
        lines += [f"schedule {case.timeline.guid} of {case.timeline.kind} {case.timeline.ref}", *_phases(case)]
        lines += [_line(evidence, each) for each in _near(case.rows, around)]
    elif row is not None:
        lines.append(_line(evidence, row))
    lines += [
        f"  fault {show(fault.began)} to {show(fault.ended)} {fault.kind} {fault.target}"
        for fault in evidence.faults_between(around - 90 * SECOND, around + 90 * SECOND)
        if around
    ]
    return "\n".join(lines)


def _near(rows: Sequence[Row], around: int) -> list[Row]:
    ordered = sorted(rows, key=lambda row: abs(row.created - around) if around else row.created)
    return sorted(ordered[:25], key=lambda row: row.created)


def _phases(case: Case) -> list[str]:
    return [
        f"  from {show(phase.lo)}..{show(phase.hi)}: {phase.shape.expression if phase.shape else 'deleted'} "
        f"{'on' if phase.enabled else 'paused'} {phase.rules} {phase.resume or ''}"
        for phase in case.timeline.phases
    ]


def _line(evidence: Evidence, row: Row) -> str:
    covers = f" covers {show(row.covers_from)}..{show(row.covers_to)} ({row.covers_count})" if row.covers else ""
    seen = [_hit(hit) for hit in evidence.hits.get(row.guid, ())] + [
        _task(task) for task in evidence.tasks.get(row.guid, ())
    ]
    return (
        f"  {row.guid} for {show(row.scheduled)} {row.trigger} {row.state} {row.reason or ''} attempt {row.attempt} "
        f"created {show(row.created)} queued {show(row.queued)} started {show(row.started)} ended {show(row.ended)}"
        f"{covers}{' serial' if row.serial else ''} {' '.join(seen)} {row.message[:80]}"
    )


def _hit(hit: Hit) -> str:
    return f"[hit {hit.attempt} {show(hit.arrived)}..{show(hit.done)} {hit.status}]"


def _task(task: SeenTask) -> str:
    return f"[task {task.guid} {show(task.created)} {task.state} {task.failure or ''}]"

"""Which combinations of policies make no sense, and the bounds of their numbers."""

from scheduler.domain.errors import Finding
from scheduler.domain.schedules import Definition, Misfire
from scheduler.domain.states import ExpressionType, MisfirePolicy, Overlap

CATCH_UP_WITH_SKIP = Finding(
    code="catch_up_with_skip",
    message="catching up makes runs that the overlap rule skip would skip; ask for serialize instead",
    field="overlap",
    value=Overlap.SKIP.value,
)
_BOUNDS = {"grace_seconds": (0, 86_400), "max_runs": (1, 10_000), "max_age_seconds": (60, 31 * 86_400)}


def default_overlap(expression_type: ExpressionType) -> Overlap:
    """Return the overlap rule of a schedule that names none."""
    return Overlap.WAIT if expression_type is ExpressionType.FIXED_RATE else Overlap.ALLOW


def broken_rules(definition: Definition) -> tuple[Finding, ...]:
    """Return what is wrong with a definition's policies and window; its expression is not looked at."""
    findings = _out_of_bounds(definition.misfire)
    if definition.misfire.policy is MisfirePolicy.CATCH_UP and definition.overlap is Overlap.SKIP:
        findings.append(CATCH_UP_WITH_SKIP)
    start, end = definition.start_time, definition.end_time
    if start is not None and end is not None and end < start:
        message = "end_time is before start_time"
        findings.append(Finding(code="window_empty", message=message, field="end_time", value=end.isoformat()))
    if definition.max_runs is not None and definition.max_runs < 1:
        findings.append(_out_of_range("max_runs", definition.max_runs, "at least 1"))
    if definition.start_deadline_seconds < 0:
        findings.append(_out_of_range("start_deadline_seconds", definition.start_deadline_seconds, "at least 0"))
    return tuple(findings)


def _out_of_bounds(misfire: Misfire) -> list[Finding]:
    values = {name: getattr(misfire, name) for name in _BOUNDS}
    return [
        _out_of_range(f"misfire.{name}", value, f"{_BOUNDS[name][0]}-{_BOUNDS[name][1]}")
        for name, value in values.items()
        if not _BOUNDS[name][0] <= value <= _BOUNDS[name][1]
    ]


def _out_of_range(field: str, value: int, valid_range: str) -> Finding:
    message = f"{field} is {value}, valid is {valid_range}"
    return Finding(code="out_of_range", message=message, field=field, value=str(value), valid_range=valid_range)

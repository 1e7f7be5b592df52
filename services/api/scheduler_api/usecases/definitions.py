"""From what users write to the definition of a schedule, and from there to what is wrong with it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.schedules import Definition, Misfire
from scheduler.domain.states import ExpressionType
from scheduler.policies import anchored, broken_rules, default_overlap
from scheduler.timetable.analysis import Analysis, Question, analyse

_DEFAULTS = {field.name: getattr(Definition(expression=""), field.name) for field in fields(Definition)}
_MISFIRE_DEFAULTS = {field.name: getattr(Misfire(), field.name) for field in fields(Misfire)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """What the installation says about all schedules."""

    default_zone: str = "UTC"
    min_interval: timedelta | None = None

    def check(self, definition: Definition, *, ref_guid: UUID, now: datetime) -> None:
        """Raise InvalidInputError with all that is wrong with a definition, and what is remarkable about it."""
        analysis = self.analyse(definition, now=now, hash_key=str(ref_guid), next_count=0)
        findings = (*analysis.errors, *broken_rules(definition), *_misplaced(definition))
        if findings:
            raise InvalidInputError(*findings, warnings=analysis.warnings)

    def analyse(self, definition: Definition, *, now: datetime, **options: Any) -> Analysis:
        """Return what a definition means here; options as for Question."""
        question = Question(now=now, default_zone=self.default_zone, min_interval=self.min_interval, **options)
        return analyse(definition, question)


def new_definition(wish: Mapping[str, Any], *, now: datetime) -> Definition:
    """Return the definition that a body asks for; what it does not name has its default."""
    return anchored(_changed(Definition(expression=""), {"overlap": None, **wish}), now=now)


def changed_definition(present: Definition, wish: Mapping[str, Any], *, now: datetime) -> Definition:
    """Return the definition with the fields that `wish` names changed; None means back to the default."""
    return anchored(_changed(present, wish), now=now, previous=present)


def _changed(present: Definition, wish: Mapping[str, Any]) -> Definition:
    changes = {name: _or_default(value, _DEFAULTS[name]) for name, value in wish.items() if name in _DEFAULTS}
    if "expression" in changes:
        changes["expression"] = changes["expression"].strip()
    if "misfire" in wish:
        changes["misfire"] = _changed_misfire(present.misfire, wish["misfire"])
    if "overlap" in wish and wish["overlap"] is None:
        changes["overlap"] = default_overlap(changes.get("expression_type", present.expression_type))
    return replace(present, **changes)


def _changed_misfire(present: Misfire, wish: Mapping[str, Any] | None) -> Misfire:
    if wish is None:
        return Misfire()
    return replace(present, **{name: _or_default(value, _MISFIRE_DEFAULTS[name]) for name, value in wish.items()})


def _or_default(value: Any, default: Any) -> Any:
    return default if value is None else value


def _misplaced(definition: Definition) -> tuple[Finding, ...]:
    if definition.delete_after_run and definition.expression_type is not ExpressionType.ONE_TIME:
        message = "delete_after_run is for schedules of the type one_time"
        return (Finding(code="invalid_field", message=message, field="delete_after_run"),)
    return ()

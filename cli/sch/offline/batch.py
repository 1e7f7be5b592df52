"""`sch next --batch`: JSON lines in, JSON lines out, one answer per line whatever the line holds.

In: `{"id", "expression", "expression_type"?, "time_zone"?, "hash_key"?, "day_match"?, "on_gap"?, "on_fold"?, "after",
"count"?}`. Out: `{"id", "next": [instants in UTC]}` or `{"id", "errors": [...]}`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from sch.offline.instants import read_instant
from sch.offline.next_runs import Asked
from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.states import DayMatch, OnFold, OnGap
from scheduler.timetable import HORIZON_YEARS, compile_timetable
from scheduler.timetable.analysis import DEFAULT_NEXT_RUNS
from scheduler.timetable.compiling import DEFAULT_ZONE
from scheduler.timetable.documents import finding_document, instant_text
from scheduler.timetable.expression_types import read_expression_type
from scheduler.timetable.hashing import PLACEHOLDER_KEY

MAX_COUNT = 100_000

Word = TypeVar("Word", bound=StrEnum)


def answer_lines(lines: Iterable[str], *, default_zone: str = DEFAULT_ZONE) -> Iterator[str]:
    """Yield the answer to each line that is not blank."""
    for line in lines:
        if line.strip():
            yield json.dumps(answer(line, default_zone=default_zone))


def answer(line: str, *, default_zone: str = DEFAULT_ZONE) -> dict[str, Any]:
    """Return the answer to one line."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return _refused(None, _bad_request("the line is not JSON"))
    if not isinstance(fields, dict):
        return _refused(None, _bad_request("the line is not a JSON object"))
    identity = fields.get("id")
    try:
        return {"id": identity, "next": _next(fields, default_zone)}
    except InvalidInputError as error:
        return _refused(identity, *error.findings)


def _next(fields: Mapping[str, Any], default_zone: str) -> list[str]:
    asked = _asked(fields, default_zone)
    count = _count(fields)
    try:
        after = read_instant(_text(fields, "after"))
    except ValueError as error:
        raise InvalidInputError(_bad_request(f"after: {error}", "after")) from None
    timetable = compile_timetable(asked.definition, hash_key=asked.hash_key, default_zone=default_zone)
    if timetable.next_after(after) is None:
        raise InvalidInputError(Finding(code="never_fires", message=f"it has no run in the next {HORIZON_YEARS} years"))
    return [instant_text(run) for run in timetable.runs(after, count)]


def _asked(fields: Mapping[str, Any], default_zone: str) -> Asked:
    return Asked(
        expression=_text(fields, "expression"),
        expression_type=read_expression_type(_text(fields, "expression_type", "")),
        time_zone=_text(fields, "time_zone", "") or None,
        hash_key=_text(fields, "hash_key", "") or PLACEHOLDER_KEY,
        day_match=_word(fields, "day_match", DayMatch.ALL),
        on_gap=_word(fields, "on_gap", OnGap.SHIFT),
        on_fold=_word(fields, "on_fold", OnFold.AUTO),
        default_zone=default_zone,
    )


def _text(fields: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = fields.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise InvalidInputError(_bad_request(f"{name} is not a text", name))
    return value


def _word(fields: Mapping[str, Any], name: str, default: Word) -> Word:
    word, words = _text(fields, name, default.value), type(default)
    if word not in set(words):
        raise InvalidInputError(_bad_request(f"{name} {word} is none of {', '.join(words)}", name))
    return words(word)


def _count(fields: Mapping[str, Any]) -> int:
    count = fields.get("count", DEFAULT_NEXT_RUNS)
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= MAX_COUNT:
        raise InvalidInputError(_bad_request(f"count is not a number from 0 to {MAX_COUNT}", "count"))
    return count


def _bad_request(message: str, field: str | None = None) -> Finding:
    return Finding(code="bad_request", message=message, field=field)


def _refused(identity: object, *findings: Finding) -> dict[str, Any]:
    return {"id": identity, "errors": [finding_document(finding) for finding in findings]}

"""From marshmallow's nested messages to the findings that users see: one per mistake, each naming its field."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from marshmallow import ValidationError

from scheduler.domain.errors import Finding, InvalidInputError

_MISSING = "is missing"
# Keys of a dictionary are reported under these names, which users have never heard of.
_INNER = {"key", "value"}


def as_invalid_input(error: ValidationError) -> InvalidInputError:
    """Return the error of ours."""
    return InvalidInputError(*_findings(error.messages, ()))


def with_code(error: InvalidInputError, code: str) -> InvalidInputError:
    """Return the error with `code`, if there is one, in place of our own codes for fields."""
    own = {"missing_field", "invalid_field"}
    findings = [replace(each, code=code) if code and each.code in own else each for each in error.findings]
    return InvalidInputError(*findings, warnings=error.warnings)


def _findings(messages: Any, path: tuple[str, ...]) -> Iterator[Finding]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            yield from _findings(inner, path if name in _INNER or name == "_schema" else (*path, str(name)))
        return
    for message in messages if isinstance(messages, list) else [messages]:
        yield _finding(str(message), ".".join(path))


def _finding(message: str, field: str) -> Finding:
    code = "missing_field" if message == _MISSING else "invalid_field"
    return Finding(code=code, message=f"{field} {message}".strip(), field=field or None)

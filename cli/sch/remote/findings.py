"""Errors and warnings about what was sent: each in words, and a caret below the place in the expression."""

from collections.abc import Iterator, Mapping
from typing import Any

from sch.terminal.text import clean, width

_INDENT = "   "


def finding_lines(content: Mapping[str, Any], expression: str | None) -> list[str]:
    """Return the lines that show `errors` and `warnings` of an answer, with the expression if there is one to show."""
    errors, warnings = _findings(content, "errors"), _findings(content, "warnings")
    lines = list(_pointer(expression, errors)) if expression and errors else []
    lines += [_sentence(error) for error in errors]
    lines += [f"Warning: {_sentence(warning)}" for warning in warnings]
    return lines


def _findings(content: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    found = content.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _pointer(expression: str, errors: list[Mapping[str, Any]]) -> Iterator[str]:
    offset = errors[0].get("offset")
    data = expression.encode()
    if not isinstance(offset, int) or isinstance(offset, bool) or not 0 <= offset <= len(data):
        return
    before = data[:offset].decode(errors="ignore")  # offsets count bytes, terminals cells
    value = errors[0].get("value")
    marked = value if isinstance(value, str) and expression.startswith(value, len(before)) else ""
    yield ""
    yield _INDENT + clean(expression)
    yield _INDENT + " " * width(clean(before)) + "^" * max(1, width(clean(marked)))


def _sentence(finding: Mapping[str, Any]) -> str:
    message = clean(str(finding.get("message") or finding.get("code") or "no reason is given"))
    notes = [f"{name.replace('_', ' ')}: {clean(str(finding[name]))}" for name in _noted(finding, message)]
    return f"{message} ({', '.join(notes)})" if notes else message


def _noted(finding: Mapping[str, Any], message: str) -> Iterator[str]:
    """Yield what the message itself does not say."""
    for name in ("field", "valid_range"):
        value = finding.get(name)
        if value not in {None, ""} and clean(str(value)) not in message:
            yield name

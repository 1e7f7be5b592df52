"""What the scheduler answered, and how its refusals are explained."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from sch.errors import CliError
from sch.remote.findings import finding_lines
from sch.terminal.text import clean

Row = Mapping[str, Any]


def shown(row: Row, *names: str) -> str:
    """Return the first of the fields that has a value, as it is shown; nothing when none has."""
    return next((text for name in names if (text := _text(row.get(name)))), "")


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, dict):
        return ", ".join(f"{name}={_text(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete HTTP answer of the scheduler."""

    status: int
    text: str

    def json(self) -> Any:
        """Return the decoded body, None when it is no JSON."""
        try:
            return json.loads(self.text)
        except (ValueError, RecursionError):
            return None

    def row(self) -> Row:
        """Return the one resource that was answered.

        Raises CliError for anything else.
        """
        content = self.json()
        if not isinstance(content, dict):
            raise CliError("The scheduler's answer cannot be read: it is not a JSON object.")
        return content

    def rows(self, name: str = "resources") -> list[Row]:
        """Return the resources of a collection; a null or missing one is empty, as Go servers have it."""
        found = self.row().get(name) or []
        if not isinstance(found, list):
            raise CliError(f"The scheduler's answer cannot be read: {name} is not a list.")
        return [item for item in found if isinstance(item, dict)]


class RefusedError(CliError):
    """The scheduler said no."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"the scheduler answers {answer.status}")
        self.answer = answer
        self.expression: str | None = None  # what the offset of a finding points into
        self.admins_only = False  # the command is one that only admins may use
        self.body = answer.text if answer.json() is not None else None

    def lines(self) -> list[str]:
        reason = _reason(self.answer.status, admins_only=self.admins_only)
        content = self.answer.json()
        details = finding_lines(content, self.expression) if isinstance(content, dict) else []
        return [reason or _plain_reason(self.answer, has_details=bool(details)), *details]


def _reason(status: int, *, admins_only: bool) -> str:
    """Return the sentence for the two refusals that are about the caller (checklist 296-299)."""
    if status == HTTPStatus.UNAUTHORIZED:
        whom = " as an admin user" if admins_only else ""
        return (
            "The scheduler rejected the token (401 Unauthorized). "
            f'Refresh SCHEDULER_TOKEN with cf oauth-token{whom}: export SCHEDULER_TOKEN="$(cf oauth-token)"'
        )
    if status == HTTPStatus.FORBIDDEN:
        if admins_only:
            return "The scheduler refused this (403 Forbidden): the token's user isn't an admin."
        return "The scheduler refused this (403 Forbidden): the token's user isn't allowed to do what was asked."
    return ""


def _plain_reason(answer: Answer, *, has_details: bool) -> str:
    try:
        phrase = f"{answer.status} {HTTPStatus(answer.status).phrase}"
    except ValueError:
        phrase = str(answer.status)
    if answer.json() is None and answer.status != HTTPStatus.NOT_FOUND:
        return f"The scheduler answered {phrase}, without an explanation that can be read."
    if answer.json() is None:
        return f"Nothing of that kind is at SCHEDULER_URL ({phrase}). Is it the URL of a scheduler?"
    if has_details:
        return f"The scheduler refused this ({clean(phrase)}):"
    return f"Not found ({phrase})." if answer.status == HTTPStatus.NOT_FOUND else f"The scheduler answered {phrase}."

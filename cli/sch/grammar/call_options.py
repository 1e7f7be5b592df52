"""The options of a call's request, and the request body that they make."""

from collections.abc import Callable, Mapping
from typing import Any

import click

from sch.errors import UsageError
from sch.grammar.bodies import given, text_or_file
from sch.terminal.text import clean

_SECONDS = click.FloatRange(0, min_open=True)
_RETRY = {
    "retry_attempts": "max_attempts",
    "retry_backoff": "backoff_seconds",
    "retry_max_backoff": "max_backoff_seconds",
    "retry_max_age": "max_age_seconds",
    "retry_on": "retry_on",
}
_NAMES = {
    "connect_timeout": "connect_timeout_seconds",
    "timeout": "timeout_seconds",
    "success_status": "success_statuses",
}
_OPTIONS = (
    click.option("--method", metavar="METHOD", help="HTTP method (POST)"),
    click.option("--header", metavar="'NAME: VALUE'", multiple=True, help="A further header; may be repeated"),
    click.option("--body", metavar="TEXT", help="What is sent; @FILE takes it from a file"),
    click.option("--connect-timeout", type=_SECONDS, metavar="SECONDS", help="Time limit of the connection (5)"),
    click.option("--timeout", type=_SECONDS, metavar="SECONDS", help="Time limit in all (30, at most 900)"),
    click.option(
        "--success-status", metavar="STATUS", multiple=True, help="What counts as success: 204, 2xx; may be repeated"
    ),
    click.option("--follow-redirects", type=click.IntRange(0), metavar="N", help="Follow so many redirects (5)"),
    click.option("--retry-attempts", type=click.IntRange(1), metavar="N", help="Attempts in all (1)"),
    click.option("--retry-backoff", type=_SECONDS, metavar="SECONDS", help="Wait before the second attempt"),
    click.option("--retry-max-backoff", type=_SECONDS, metavar="SECONDS", help="Wait no longer than this"),
    click.option("--retry-max-age", type=_SECONDS, metavar="SECONDS", help="No attempt later than this"),
    click.option(
        "--retry-on", metavar="WHAT", multiple=True, help="connect_error, timeout, 503, 5xx, …; may be repeated"
    ),
)


def call_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of a call's request."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def call_body(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request body that holds what was given, and nothing else."""
    present = given(options)
    body = {_NAMES.get(name, name): _plain(value) for name, value in present.items() if name not in {*_RETRY, "header"}}
    retry = {field: _plain(present[name]) for name, field in _RETRY.items() if name in present}
    if "header" in present:
        body["headers"] = dict(_header(text) for text in present["header"])
    if "body" in present:
        body["body"] = text_or_file(present["body"])
    return body | ({"retry": retry} if retry else {})


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, tuple) else value


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError(f"--header takes 'NAME: VALUE', not '{clean(text)}'")
    return name.strip(), value.strip()

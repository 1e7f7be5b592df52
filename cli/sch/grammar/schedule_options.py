"""The options that define a schedule, and the request body that they make."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import click

from sch.errors import UsageError
from sch.terminal.text import clean
from scheduler.domain.states import DayMatch, ExpressionType, MisfirePolicy, OnFold, OnGap, Overlap

_MISFIRE = {
    "misfire": "policy",
    "misfire_grace": "grace_seconds",
    "misfire_max_runs": "max_runs",
    "misfire_max_age": "max_age_seconds",
}
_NAMES = {"start_deadline": "start_deadline_seconds"}
_SECONDS = click.IntRange(0)


def _option(*names: str, help: str, **more: Any) -> Callable[..., Any]:  # noqa: A002 - click's own word
    return click.option(*names, help=help, **more)


def _choice(words: Iterable[str]) -> click.Choice[str]:
    return click.Choice([str(word) for word in words], case_sensitive=False)


type_option = _option(
    "--type", "expression_type", type=_choice(ExpressionType), help="How the expression is to be read (cron_expression)"
)
_ZONE_OPTIONS = (
    _option("--time-zone", "-z", metavar="ZONE", help="Time zone such as Europe/Berlin"),
    _option("--day-match", type=_choice(DayMatch), help="Whether a day must match both restricted day fields or any"),
    _option("--on-gap", type=_choice(OnGap), help="What becomes of a time that the clock jumps over"),
    _option("--on-fold", type=_choice(OnFold), help="Which readings of a time that happens twice count"),
)
_OPTIONS = (
    type_option,
    *_ZONE_OPTIONS,
    _option("--misfire", type=_choice(MisfirePolicy), help="What happens to missed runs"),
    _option("--misfire-grace", type=_SECONDS, metavar="SECONDS", help="A run is missed when it is so late"),
    _option("--misfire-max-runs", type=click.IntRange(1), metavar="N", help="Catch up with so many runs at most"),
    _option("--misfire-max-age", type=_SECONDS, metavar="SECONDS", help="Catch up with runs no older than this"),
    _option("--overlap", type=_choice(Overlap), help="What happens while the previous run is going on"),
    _option("--start-deadline", type=_SECONDS, metavar="SECONDS", help="Start no run later than this; 0: no limit"),
    _option("--start-time", metavar="INSTANT", help="No run before this"),
    _option("--end-time", metavar="INSTANT", help="No run after this"),
    _option("--max-runs", type=click.IntRange(1), metavar="N", help="So many runs in all"),
    _option("--delete-after-run/--keep-after-run", default=None, help="Delete a one-time schedule after its run"),
    _option("--metadata", metavar="KEY=VALUE", multiple=True, help="Anything to keep with it; may be repeated"),
)


def zone_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that decide how an expression is read."""
    return _with(function, _ZONE_OPTIONS)


def schedule_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command all options that define a schedule."""
    return _with(function, _OPTIONS)


def schedule_body(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request body that holds what was given, and nothing else."""
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    body = {_NAMES.get(name, name): value for name, value in given.items() if name not in {*_MISFIRE, "metadata"}}
    misfire = {field: given[name] for name, field in _MISFIRE.items() if name in given}
    if misfire:
        body["misfire"] = misfire
    if "metadata" in given:
        body["metadata"] = dict(_pair(text) for text in given["metadata"])
    return body


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--metadata takes KEY=VALUE, not {clean(text)}")
    return name, value


def _with(function: Callable[..., None], options: Iterable[Callable[..., Any]]) -> Callable[..., None]:
    for option in reversed(tuple(options)):
        function = option(function)
    return function

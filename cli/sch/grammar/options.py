"""Options and kinds of values that several commands share."""

import re
from collections.abc import Callable
from typing import Any

import click

from sch.surroundings import Surroundings

_UNITS = {"": 1, "M": 1, "MB": 1, "G": 1_024, "GB": 1_024, "T": 1_048_576, "TB": 1_048_576}
_RATE_UNITS = {"": 1, "B": 1, "K": 1_024, "KB": 1_024, "M": 1_048_576, "MB": 1_048_576, "G": 1 << 30, "GB": 1 << 30}
_SIZE = re.compile(r"(\d{1,12})\s*([A-Z]{0,2})", re.ASCII)


def _show_json_only(ctx: click.Context, _: click.Parameter, value: Any) -> None:
    if value:
        surroundings = ctx.find_object(Surroundings)
        assert surroundings is not None
        surroundings.screen.json_only = True


json_option = click.option(
    "--json",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_json_only,
    help="Print the scheduler's JSON and nothing else",
)
space_option = click.option(
    "--space", "-s", metavar="SPACE", help="Space, by name or GUID [SCHEDULER_SPACE, cf target]"
)
force_option = click.option("--force", "--yes", "-f", "-y", is_flag=True, help="Do not ask")


class Guid(click.ParamType[str]):
    """A GUID, in any of the usual spellings; never anything that could change the path of a request."""

    name = "guid"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not re.fullmatch(r"[0-9a-fA-F]{8}(-?[0-9a-fA-F]{4}){3}-?[0-9a-fA-F]{12}", text):
            self.fail(f"{text!r} is not a GUID", param, ctx)
        return text


class Size(click.ParamType[int]):
    """An amount of memory, disk or log: a number with a unit or without."""

    name = "size"

    def __init__(self, units: dict[str, int], example: str) -> None:
        self._units = units
        self._example = example

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = _SIZE.fullmatch(str(value).strip().upper())
        if match is None or match[2] not in self._units:
            self.fail(
                f"{value!r} is not a size such as {'64K or 1M' if self._units is _RATE_UNITS else '512M or 1G'}",
                param,
                ctx,
            )
        return int(match[1]) * self._units[match[2]]


GUID = Guid()
MEGABYTES = Size(_UNITS, "512M or 1G")
BYTES = Size(_RATE_UNITS, "64K or 1M")

_WAIT_OPTIONS = (
    click.option("--wait", "-w", is_flag=True, help="Wait until the execution has ended"),
    click.option("--timeout", type=click.FloatRange(0), metavar="SECONDS", help="Wait no longer than this"),
)


def wait_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options to wait for an execution."""
    for option in reversed(_WAIT_OPTIONS):
        function = option(function)
    return function

"""Commands and groups that are loaded when called, know other spellings, and explain themselves as cf does."""

import difflib
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from sch.grammar.help import write_help

CONTEXT = {"help_option_names": ["--help", "-h"], "max_content_width": 100}

# The order in which commands are explained, whichever module they come from.
_ORDER = (
    "create", "list", "get", "update", "execute", "pause", "resume", "trigger", "revalidate", "cancel", "watch",
    "delete", "history", "why", "schedules",
)  # fmt: skip


class Command(click.Command):
    """A command with examples."""

    def __init__(
        self, name: str, *, aliases: Sequence[str] = (), examples: Sequence[str] = (), see_also: str = "", **kwargs: Any
    ) -> None:
        super().__init__(name, **{**kwargs, "context_settings": CONTEXT})
        self.aliases = tuple(aliases)
        self.examples = tuple(examples)
        self.see_also = see_also

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, ctx, formatter)


class Group(click.Group):
    """Commands under one word. `places` name the modules of those that are loaded when called."""

    def __init__(self, name: str, *, places: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(name, **{**kwargs, "context_settings": CONTEXT, "invoke_without_command": True})
        self.aliases: tuple[str, ...] = ()
        self.examples: tuple[str, ...] = ()
        self.see_also = ""
        self._places = places or {}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click passes it
        """Return the names in the order in which they are explained."""
        return [*self._places, *sorted(self.commands, key=_ORDER.index)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - likewise
        """Return the command of this name or alias."""
        if cmd_name in self._places:
            module, _, attribute = self._places[cmd_name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), attribute)
            return command
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        return next((each for each in self.commands.values() if cmd_name in getattr(each, "aliases", ())), None)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command, under its first name whatever the user wrote, and what is left of the line."""
        command = self.get_command(ctx, args[0])
        if command is None and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean '{close[0]}'?" if close else ""
            ctx.fail(f"'{args[0]}' is not a command.{hint}")
        _, command, rest = super().resolve_command(ctx, args)
        return (command.name if command else None), command, rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, or explain the group when none is named."""
        if not ctx._protected_args and not ctx.args:  # noqa: SLF001 - click has no other way to ask
            click.echo(ctx.get_help(), color=ctx.color)
            return None
        return super().invoke(ctx)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help(self, ctx, formatter)


def command(
    name: str, summary: str, *, aliases: Sequence[str] = (), examples: Sequence[str] = (), see_also: str = ""
) -> Callable[[Callable[..., Any]], Command]:
    """Turn a function into a command; `summary` is one sentence without a full stop, then anything more."""
    return click.command(name, cls=Command, help=summary, aliases=aliases, examples=examples, see_also=see_also)

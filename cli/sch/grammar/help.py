"""Help in the sections of the cf command line: NAME, USAGE, ALIAS, EXAMPLES, OPTIONS, SEE ALSO."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

_INDENT = 3
_GAP = 3
_HELP = "Show help"


def write_help(command: Any, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the sections that the command has something to say in."""
    summary, _, rest = (command.help or "").partition("\n\n")
    _section(formatter, "NAME", [f"{ctx.command_path.partition(' ')[2]} - {summary}"])
    _section(formatter, "USAGE", [usage_of(command, ctx)])
    if rest:
        _prose(formatter, "DESCRIPTION", rest)
    if command.aliases:
        _section(formatter, "ALIAS", [", ".join(command.aliases)])
    if command.examples:
        _section(formatter, "EXAMPLES", command.examples)
    if isinstance(command, click.Group):
        _columns(formatter, "COMMANDS", list(_subcommands(command, ctx)))
    _columns(formatter, "OPTIONS", _options(command, ctx))
    if command.see_also:
        _section(formatter, "SEE ALSO", [command.see_also])


def usage_of(command: click.Command, ctx: click.Context) -> str:
    """Return the line that shows how the command is written."""
    if isinstance(command, click.Group):
        return f"{ctx.command_path} COMMAND [arguments...] [options]"
    arguments = [each for each in command.get_params(ctx) if isinstance(each, click.Argument)]
    return " ".join([ctx.command_path, *(each.make_metavar(ctx) for each in arguments), "[options]"])


def heading(formatter: click.HelpFormatter, name: str) -> None:
    """Write the name of a section."""
    if formatter.buffer:
        formatter.write("\n")
    formatter.write(click.style(f"{name}:", bold=True) + "\n")


def _section(formatter: click.HelpFormatter, name: str, lines: Sequence[str]) -> None:
    heading(formatter, name)
    for line in lines:
        formatter.write(f"{' ' * _INDENT}{line}\n")


def _prose(formatter: click.HelpFormatter, name: str, text: str) -> None:
    heading(formatter, name)
    formatter.current_indent = _INDENT
    formatter.write_text(text)
    formatter.current_indent = 0


def _columns(formatter: click.HelpFormatter, name: str, rows: Sequence[tuple[str, str]]) -> None:
    heading(formatter, name)
    formatter.current_indent = _INDENT
    formatter.write_dl(rows, col_max=40, col_spacing=_GAP)
    formatter.current_indent = 0


def _options(command: click.Command, ctx: click.Context) -> list[tuple[str, str]]:
    options = [each for each in command.get_params(ctx) if isinstance(each, click.Option) and not each.hidden]
    return [(_spellings(option, ctx), _HELP if "--help" in option.opts else option.help or "") for option in options]


def _spellings(option: click.Option, ctx: click.Context) -> str:
    """Return the option as it may be written: long forms first, as cf has it."""
    names = sorted([*option.opts, *option.secondary_opts], key=lambda name: not name.startswith("--"))
    value = "" if option.is_flag else f" {option.make_metavar(ctx)}"
    return ", ".join(names) + value


def _subcommands(group: click.Group, ctx: click.Context) -> Iterator[tuple[str, str]]:
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is not None and not command.hidden:
            yield name, summary_of(command)


def summary_of(command: click.Command) -> str:
    """Return the first sentence of a command's help."""
    return (command.help or "").partition("\n\n")[0]

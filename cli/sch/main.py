"""The entry point: runs one command and turns whatever becomes of it into words and an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from sch.errors import FAILURE, INTERRUPTED, USAGE, CliError, UnsuccessfulError
from sch.grammar.help import usage_of
from sch.root import root
from sch.surroundings import Surroundings
from sch.terminal.screen import Screen
from sch.terminal.text import clean


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `sch` with the arguments; return 0 for done, 1 for failed, 2 for a command line that makes no sense."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character must not end the command
            stream.reconfigure(errors="backslashreplace")
    surroundings = Surroundings()
    try:
        return _run(surroundings, None if arguments is None else list(arguments))
    except BrokenPipeError:
        # Whoever was reading has gone, as `head` does; the interpreter must not try to write the rest at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE


def _run(surroundings: Surroundings, arguments: list[str] | None) -> int:
    screen = surroundings.screen
    try:
        code = root.main(arguments, prog_name="sch", obj=surroundings, standalone_mode=False)
    except click.UsageError as error:
        _show_usage(screen, error)
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        screen.note("")
        return INTERRUPTED
    except UnsuccessfulError:
        return FAILURE
    except CliError as error:
        _show(screen, error)
        return error.exit_code
    except click.ClickException as error:  # a file that cannot be opened
        screen.fail(error.format_message())
        return FAILURE
    return code if isinstance(code, int) else 0


def _show(screen: Screen, error: CliError) -> None:
    if screen.json_only and error.body is not None:
        screen.json(error.body)
    screen.fail(*error.lines())


def _show_usage(screen: Screen, error: click.UsageError) -> None:
    for line in f"Incorrect Usage: {error.format_message()}".expandtabs(3).split("\n"):
        screen.note(clean(line))
    if error.ctx is not None:
        screen.note("")
        screen.note(f"USAGE:\n   {usage_of(error.ctx.command, error.ctx)}")
        screen.note(f"\nSee '{error.ctx.command_path} --help'.")

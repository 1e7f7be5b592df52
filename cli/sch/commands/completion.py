"""`sch completion`: the script that a shell reads once."""

import click
from click.shell_completion import get_completion_class

from sch.grammar.commands import command

_SHELLS = ("bash", "zsh", "fish")


@command(
    "completion",
    "Print the completion of bash, zsh or fish",
    examples=(
        'eval "$(sch completion bash)"                            # in ~/.bashrc',
        'eval "$(sch completion zsh)"                             # in ~/.zshrc',
        "sch completion fish > ~/.config/fish/completions/sch.fish",
    ),
)
@click.argument("shell", type=click.Choice(_SHELLS), metavar="bash|zsh|fish")
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "sch", "_SCH_COMPLETE").source())

"""`sch help`."""

import click

from sch.grammar.commands import command


@command("help", "Explain a command", examples=("sch help", "sch help jobs create"))
@click.argument("words", metavar="COMMAND", nargs=-1)
@click.pass_context
def explain(ctx: click.Context, words: tuple[str, ...]) -> None:
    """Print the page of the command that the words name."""
    page = ctx.parent
    assert page is not None
    for word in words:
        group = page.command
        found = group.get_command(page, word) if isinstance(group, click.Group) else None
        if found is None:
            page.fail(f"'{word}' is not a command.")
        page = click.Context(found, info_name=found.name, parent=page)
    click.echo(page.get_help(), color=ctx.color)

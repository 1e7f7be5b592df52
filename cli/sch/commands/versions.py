"""`sch version`."""

import json

import click

from sch.grammar.commands import command
from sch.grammar.options import json_option
from sch.surroundings import Surroundings
from scheduler import __version__


@command("version", "Print the version", examples=("sch version",))
@json_option
@click.pass_obj
def version(surroundings: Surroundings) -> None:
    """Print the version."""
    screen = surroundings.screen
    screen.json(json.dumps({"version": __version__}))
    screen.say(f"sch version {__version__}")

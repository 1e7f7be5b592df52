"""What turns a function into a command that talks to the scheduler."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from sch.grammar.options import json_option
from sch.remote.answers import RefusedError
from sch.remote.session import Session
from sch.surroundings import Surroundings


def uses_api(function: Callable[..., None]) -> Callable[..., None]:
    """Give the command a session as its first argument, and the option --json."""

    @json_option
    @click.pass_context
    @wraps(function)
    def run(ctx: click.Context, /, *args: Any, **kwargs: Any) -> None:
        surroundings = ctx.ensure_object(Surroundings)
        session = Session(surroundings.screen, surroundings.environment)
        ctx.call_on_close(session.close)
        function(session, *args, **kwargs)

    return run


def admins_only(function: Callable[..., None]) -> Callable[..., None]:
    """Say of a refusal that it is an admin who is wanted (checklist 296, 297)."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        except RefusedError as error:
            error.admins_only = True
            raise

    return run

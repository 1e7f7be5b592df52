"""Refusals of an expression show it, with a caret below the mistake."""

from collections.abc import Iterator
from contextlib import contextmanager

from sch.remote.answers import RefusedError


@contextmanager
def pointing_into(expression: str | None) -> Iterator[None]:
    """Let a refusal point into the expression."""
    try:
        yield
    except RefusedError as error:
        error.expression = expression
        raise

"""Arrays for PostgreSQL as one literal: the driver would write a cast for each element, and PostgreSQL parse it."""

from collections.abc import Iterable


def array(values: Iterable[object]) -> str:
    """Return the literal. Only for values without quotes, commas and braces: GUIDs, words, numbers, instants, None."""
    return "{" + ",".join(["NULL" if value is None else str(value) for value in values]) + "}"

"""Arguments that may be written by their place or as options."""

from collections.abc import Mapping, Sequence

import click


def placed(words: Sequence[str], wanted: Mapping[str, str | None]) -> list[str]:
    """Return a value for each name: the option's where one was given, otherwise the next word.

    Raises click.UsageError when words are missing or left over.
    """
    rest = list(words)
    values = []
    for name, option in wanted.items():
        if option is None and not rest:
            raise click.UsageError(f"Missing argument '{name}'.", click.get_current_context())
        values.append(rest.pop(0) if option is None else option)
    if rest:
        raise click.UsageError(f"Got unexpected extra arguments ({' '.join(rest)})", click.get_current_context())
    return values

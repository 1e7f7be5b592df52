"""Fairness between spaces: the first of each, then the second of each, and so on."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def in_turns(items: Iterable[T], space_of: Callable[[T], str]) -> list[T]:
    """Return the items so that spaces take turns; those of one space keep their order."""
    seen: dict[str, int] = {}
    ranked = []
    for item in items:
        space = space_of(item)
        seen[space] = seen.get(space, 0) + 1
        ranked.append((seen[space], item))
    return [item for _, item in sorted(ranked, key=lambda pair: pair[0])]

"""Words for HTTP statuses, as calls list them: `204`, `2xx`, `200-299`."""

from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus


def matches(words: Iterable[str], status: int) -> bool:
    """Tell whether one of the words stands for `status`."""
    return any(status in _range_of(word) for word in words)


@lru_cache(maxsize=1_024)
def _range_of(word: str) -> range:
    """Return the statuses that a word stands for: none, if it is no status at all."""
    first, _, last = word.lower().replace("x", "0").partition("-")
    if not (first.isdigit() and len(first) == 3 and (last.isdigit() or not last)):
        return range(0)
    width = 10 ** word.lower().count("x") if not last else int(last) - int(first) + 1
    return range(int(first), int(first) + width)


def phrase(status: int) -> str:
    """Return the status with its usual name; what the endpoint calls it is not repeated."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)

"""Collections that come in more than one page."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from sch.remote.answers import Answer, Row
from sch.remote.client import Client, Query

_MAX_PAGES = 1_000


def all_rows(api: Client, path: str, query: Query) -> Iterator[Row]:
    """Yield the rows of all pages."""
    following: Query | None = query
    for _ in range(_MAX_PAGES):
        answer = api.get(path, following)
        yield from answer.rows()
        following = _next(answer)
        if following is None:
            return


def more_than(answer: Answer, shown: int) -> str:
    """Return a sentence when there are more rows than are shown; a history too long to be counted has no total."""
    pagination = answer.row().get("pagination")
    total = pagination.get("total_results") if isinstance(pagination, dict) else None
    if isinstance(total, int):
        return f"{shown} of {total} are shown; --page and --limit show others." if total > shown else ""
    return "There are more; --page and --limit show them." if _next(answer) is not None else ""


def _next(answer: Answer) -> Query | None:
    """Return the query of the next page. Only that much of its URL is used: our own host and path stay."""
    pagination: Any = answer.row().get("pagination")
    link = pagination.get("next") if isinstance(pagination, dict) else None
    href = link.get("href") if isinstance(link, dict) else None
    # Answers of a single page have the literal word instead of a URL (checklist 114).
    query = urlsplit(href).query if isinstance(href, str) else ""
    return dict(parse_qsl(query)) if query else None

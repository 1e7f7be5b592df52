"""Lists: query parameters as Cloud Controller checks them, and its pages."""

from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

from flask import request

from scheduler_local.controller.errors import bad_query

T = TypeVar("T")

_PAGING = frozenset({"page", "per_page", "order_by", "include"})
_LARGEST_PAGE = 5_000


def query(*known: str) -> dict[str, set[str] | None]:
    """Return the known filters of the request's query, each a set of values or None; refuse unknown ones."""
    unknown = sorted(
        name for name in request.args if name not in _PAGING and name not in known and not name.startswith("fields[")
    )
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown)
        raise bad_query(f"Unknown query parameter(s): {names}. Valid parameters are: {', '.join(sorted(known))}")
    return {name: set(request.args[name].split(",")) if name in request.args else None for name in known}


def keep(value: str, wanted: Collection[str] | None) -> bool:
    """Tell whether a filter keeps the value."""
    return wanted is None or value in wanted


def page_of(items: Sequence[T], show: Callable[[T], dict[str, Any]]) -> dict[str, Any]:
    """Return the page that the request asks for."""
    page, size = _number("page", 1, 2**31), _number("per_page", 50, _LARGEST_PAGE)
    last = max(1, -(-len(items) // size))
    start = (page - 1) * size
    return {
        "pagination": {
            "total_results": len(items),
            "total_pages": last,
            "first": _link(1, size),
            "last": _link(last, size),
            "next": _link(page + 1, size) if page < last else None,
            "previous": _link(page - 1, size) if page > 1 else None,
        },
        "resources": [show(item) for item in items[start : start + size]],
    }


def stamp(seconds: float) -> str:
    """Return an instant as Cloud Controller writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _number(name: str, default: int, largest: int) -> int:
    text = request.args.get(name, str(default))
    if not text.isdecimal() or not 1 <= int(text) <= largest:
        label = name.replace("_", " ").capitalize()
        raise bad_query(f"{label} must be between 1 and {largest}")
    return int(text)


def _link(page: int, size: int) -> dict[str, str]:
    asked = {**request.args.to_dict(), "page": str(page), "per_page": str(size)}
    return {"href": f"{request.base_url}?{urlencode(asked)}"}

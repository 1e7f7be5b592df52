"""Parts of collections: everything up to 5,000 rows in one page, as the reference has it, or real pages with URLs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.store.keyset import Keyset

PLAIN_LIMIT = 5_000
DEFAULT_PER_PAGE = 50
# Counting or skipping more rows than these takes longer than the page itself; whoever goes further follows `next`.
COUNTED_ROWS = 10_000
MAX_SKIPPED_ROWS = 100_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """The part that was asked for."""

    page: int = 1
    per_page: int = PLAIN_LIMIT
    is_plain: bool = True  # neither page nor per_page was given
    before: UUID | None = None
    after: UUID | None = None

    @property
    def limit(self) -> int:
        """One row more than are shown tells whether there are further ones."""
        return self.per_page + 1

    @property
    def offset(self) -> int:
        """How many rows lie before the page."""
        return (self.page - 1) * self.per_page

    def keyset(self) -> Keyset:
        """Return the page of a history.

        Raises InvalidInputError for one that could only be found by walking there.
        """
        if self.before is not None or self.after is not None:
            return Keyset(limit=self.limit, before=self.before, after=self.after)
        if self.offset > MAX_SKIPPED_ROWS:
            message = f"page lies more than {MAX_SKIPPED_ROWS} rows back: follow `next`, or narrow with since and until"
            raise InvalidInputError(Finding(code="invalid_field", message=message, field="page"))
        return Keyset(limit=self.limit, offset=self.offset)


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Rows of a collection and where they stand in it."""

    rows: Sequence[Any]
    has_next: bool
    total: int | None  # None: not counted
    by_guid: bool = False  # rows are in the order of their guids, newest first


def wanted_from(query: Mapping[str, Any]) -> Wanted:
    """Return the part that a query asks for."""
    page, per_page = query.get("page"), query.get("per_page")
    before, after = query.get("before"), query.get("after")
    if page is None and per_page is None:
        return Wanted(before=before, after=after, is_plain=before is None and after is None)
    return Wanted(page=page or 1, per_page=per_page or DEFAULT_PER_PAGE, is_plain=False, before=before, after=after)


def all_of(rows: Sequence[Any]) -> Part:
    """Return a whole collection."""
    return Part(rows=rows, has_next=False, total=len(rows))


def numbered(rows: Sequence[Any], wanted: Wanted, count: Callable[[], int]) -> Part:
    """Return a page of a collection, from up to `wanted.limit` rows; counted only when these do not tell."""
    has_next = len(rows) > wanted.per_page
    is_all = not has_next and wanted.page == 1
    return Part(rows=rows[: wanted.per_page], has_next=has_next, total=len(rows) if is_all else count())


def by_guid(rows: Sequence[Any], wanted: Wanted, count: Callable[[int], int]) -> Part:
    """Return a page of rows in the order of their guids, counted as far as that is quick."""
    has_more = len(rows) > wanted.per_page
    if wanted.after is not None:
        shown, has_next = rows[-wanted.per_page :], bool(rows)  # at least the row at the edge is older
    else:
        shown, has_next = rows[: wanted.per_page], has_more
    if not has_more and wanted.page == 1 and wanted.before is None and wanted.after is None:
        return Part(rows=shown, has_next=has_next, total=len(rows), by_guid=True)
    counted = count(COUNTED_ROWS + 1)
    total = None if counted > COUNTED_ROWS else counted
    return Part(rows=shown, has_next=has_next, total=total, by_guid=True)


def pagination(part: Part, wanted: Wanted, url: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the envelope's `pagination`."""
    if wanted.is_plain and not part.has_next:
        return {"total_pages": 1, "total_results": len(part.rows)} | {
            name: {"href": name} for name in ("first", "last", "next", "previous")
        }
    pages = None if part.total is None else max(1, -(-part.total // wanted.per_page))
    links = _Links(part, wanted, url, query)
    return {
        "total_pages": pages,
        "total_results": part.total,
        "first": links.to(1),
        "last": None if pages is None else links.to(pages),
        "next": links.next(),
        "previous": links.previous(),
    }


class _Links:
    """URLs of other pages: by the guid at the edge where rows are in the order of their guids, by number elsewhere."""

    def __init__(self, part: Part, wanted: Wanted, url: str, query: Mapping[str, str]) -> None:
        own = {"page", "per_page", "before", "after"}
        self._filters = {name: value for name, value in query.items() if name not in own}
        self._part, self._wanted, self._url = part, wanted, url

    def to(self, page: int, **edge: str) -> dict[str, str]:
        query = {**self._filters, "page": str(page), "per_page": str(self._wanted.per_page), **edge}
        return {"href": f"{self._url}?{urlencode(query)}"}

    def next(self) -> dict[str, str] | None:
        return self.to(self._wanted.page + 1, **self._edge("before", -1)) if self._part.has_next else None

    def previous(self) -> dict[str, str] | None:
        return self.to(self._wanted.page - 1, **self._edge("after", 0)) if self._wanted.page > 1 else None

    def _edge(self, name: str, index: int) -> dict[str, str]:
        return {name: str(self._part.rows[index].guid)} if self._part.by_guid and self._part.rows else {}

"""Collections and how to ask for a part of one."""

from typing import Any

from marshmallow import fields, validate

from scheduler_api.schemas.base import Answer, Loose
from scheduler_api.schemas.fields import Words

MAX_PER_PAGE = 5_000
MAX_PAGE = 1_000_000_000

_QUERY_FLAG_WORDS: Words = {"invalid": "must be true or false"}
_QUERY_NUMBER_WORDS: Words = {"invalid": "must be a whole number"}


class QueryNumber(fields.Integer):
    """A whole number in a URL: digits and nothing else, where Python would take underscores and spaces too."""

    default_error_messages = _QUERY_NUMBER_WORDS

    def __init__(self, *, least: int, most: int, **kwargs: Any) -> None:
        rule = validate.Range(min=least, max=most, error="must be from {min} to {max}")
        super().__init__(validate=rule, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if not (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 10):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **kwargs)


class QueryFlag(fields.Boolean):
    """true or false in a URL."""

    default_error_messages = _QUERY_FLAG_WORDS
    truthy = frozenset({"true"})  # type: ignore[assignment]
    falsy = frozenset({"false"})  # type: ignore[assignment]


class PageQuery(Loose):
    """Which part of a collection; without any of it, everything up to 5,000 rows."""

    page = QueryNumber(least=1, most=MAX_PAGE, metadata={"description": "counted from 1"})
    per_page = QueryNumber(least=1, most=MAX_PER_PAGE, metadata={"description": "rows in a page, by default 50"})


class LinkAnswer(Answer):
    """A neighbouring page."""

    href = fields.String(required=True)


class PaginationAnswer(Answer):
    """Where the rows stand in the whole collection."""

    total_pages = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "null when a history is so long that its rows are not counted"},
    )
    total_results = fields.Integer(required=True, allow_none=True, metadata={"description": "likewise"})
    first = fields.Nested(LinkAnswer, required=True, allow_none=True)
    last = fields.Nested(LinkAnswer, required=True, allow_none=True)
    next = fields.Nested(LinkAnswer, required=True, allow_none=True)
    previous = fields.Nested(LinkAnswer, required=True, allow_none=True)

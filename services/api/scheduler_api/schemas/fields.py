"""The kinds of fields that requests and answers have: strict about types, precise about what is wrong.

A message completes the sentence that begins with the field's name: "name is missing".
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from marshmallow import ValidationError, fields, validate

MAX_NAME_CHARACTERS = 255
MAX_GUID_CHARACTERS = 255

# What marshmallow wants the type of messages to be.
Words = dict[str, str | list[Any] | dict[Any, Any]]

_MISSING: Words = {"required": "is missing", "null": "must not be null"}
# An empty string or the year 1 is what Go sends for "not set".
_GO_ZERO_YEAR = 1
# Beyond these lie the ends of what guids, Python and time zones can reckon with.
_FIRST_YEAR, _LAST_YEAR = 1970, 9_000
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)

_TEXT_WORDS: Words = {
    **_MISSING,
    "invalid": "must be a string",
    "blank": "must not be blank",
    "control": "must not contain control characters",
}
_WHOLE_WORDS: Words = {
    **_MISSING,
    "invalid": "must be a whole number",
    "too_large": "is too large",
}
_SECONDS_WORDS: Words = {
    **_MISSING,
    "invalid": "must be a number of seconds",
    "too_large": "is too large",
    "special": "must be a number of seconds",
}
_FLAG_WORDS: Words = {**_MISSING, "invalid": "must be true or false"}
_WORD_WORDS: Words = {**_MISSING, "unknown": "must be one of {choices}"}
_INSTANT_WORDS: Words = {
    **_MISSING,
    "invalid": "must be an instant such as 2027-01-31T10:30:00Z",
    "far": "must be from 1970 to 9000",
}
_ONE_OF_WORDS: Words = {**_MISSING, "invalid": "must be a string"}
_MATCHING_WORDS: Words = {**_MISSING, "invalid": "must be a string"}
_SEVERAL_WORDS: Words = {**_MISSING, "invalid": "must be a comma list"}


def length(least: int, most: int) -> validate.Length:
    """Return the rule for the number of characters or entries."""
    return validate.Length(min=least, max=most, error="must have {min} to {max} characters")


def entries(most: int) -> validate.Length:
    """Return the rule for the number of entries in a list or an object."""
    return validate.Length(max=most, error="must have at most {max} entries")


def between(least: float, most: float) -> validate.Range:
    """Return the rule for a number."""
    return validate.Range(min=least, max=most, error="must be from {min} to {max}")


def is_control(character: str) -> bool:
    """Tell whether a character has no business in a single line of text."""
    return unicodedata.category(character) in {"Cc", "Cs"}


class Text(fields.String):
    """A single line, or with `lines` several; never a NUL. With `blank=False` something must be in it."""

    default_error_messages = _TEXT_WORDS

    def __init__(self, *, most: int, blank: bool = True, lines: bool = False, **kwargs: Any) -> None:
        least = 0 if blank else 1
        super().__init__(validate=[length(least, most), *kwargs.pop("validate", ())], **kwargs)
        self._most = most
        self.may_be_blank = blank
        self.is_lines = lines

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not self.may_be_blank and not text.strip():
            raise self.make_error("blank")
        is_line = self.is_lines or len(text) > self._most or not any(map(is_control, text))
        if "\0" in text or not is_line:
            raise self.make_error("control")
        return text


class Whole(fields.Integer):
    """A whole number; neither a string nor a boolean."""

    default_error_messages = _WHOLE_WORDS

    def __init__(self, *, least: int, most: int, **kwargs: Any) -> None:
        super().__init__(strict=True, validate=between(least, most), **kwargs)


class Seconds(fields.Float):
    """A length of time in seconds, fractions allowed; not a string."""

    default_error_messages = _SECONDS_WORDS

    def __init__(self, *, least: float, most: float, **kwargs: Any) -> None:
        super().__init__(validate=between(least, most), **kwargs)

    def _validated(self, value: Any) -> float:
        if isinstance(value, str):
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class Flag(fields.Boolean):
    """true or false, and nothing that merely resembles them."""

    default_error_messages = _FLAG_WORDS

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> bool:  # noqa: ARG002 - the base class's  # noqa: ARG002 - the signature is the base class's
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Word(fields.Enum[Any]):
    """One of a closed set of words."""

    default_error_messages = _WORD_WORDS

    def __init__(self, words: type[StrEnum], **kwargs: Any) -> None:
        super().__init__(words, by_value=fields.String(), **kwargs)


class Instant(fields.Field[datetime]):
    """An instant as RFC 3339 writes it; shown in UTC."""

    default_error_messages = _INSTANT_WORDS

    def _serialize(self, value: Any, attr: Any, obj: Any, **kwargs: Any) -> str | None:  # noqa: ARG002 - likewise
        return None if value is None else value.isoformat().replace("+00:00", "Z")

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - likewise
        instant = parse_instant(value) if isinstance(value, str) else None
        if instant is None:
            raise self.make_error("invalid")
        if instant.year <= _GO_ZERO_YEAR and self.allow_none:
            return None
        if not _FIRST_YEAR <= instant.year <= _LAST_YEAR:
            raise self.make_error("far")
        return instant


class ComputedInstant(Instant):
    """An instant that is worked out from the whole object."""

    def __init__(self, compute: Callable[[Any], datetime | None], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._compute = compute

    def get_value(self, obj: Any, attr: str, accessor: Any = None, default: Any = None) -> Any:  # noqa: ARG002 - likewise
        return self._compute(obj)


def parse_instant(text: str) -> datetime | None:
    """Return the instant, None when the text is none; a missing `T` or a `+` that a URL turned into a space will do."""
    written = re.sub(r" (\d\d:\d\d)$", r"+\1", text.strip())
    if not _RFC3339.fullmatch(written):
        return None
    try:
        return datetime.fromisoformat(written.upper()).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class OneOf(fields.String):
    """One of a few strings that are no enum of ours."""

    default_error_messages = _ONE_OF_WORDS

    def __init__(self, words: tuple[str, ...], **kwargs: Any) -> None:
        super().__init__(validate=validate.OneOf(words, error="must be one of {choices}"), **kwargs)


class Matching(fields.String):
    """A string of one form."""

    default_error_messages = _MATCHING_WORDS

    def __init__(self, pattern: str, error: str, **kwargs: Any) -> None:
        self.pattern = pattern
        super().__init__(validate=validate.Regexp(re.compile(pattern, re.ASCII), error=error), **kwargs)


class Several(fields.List[Any]):
    """Several values, as a comma list in a URL."""

    default_error_messages = _SEVERAL_WORDS

    def __init__(self, item: fields.Field[Any], **kwargs: Any) -> None:
        super().__init__(item, validate=entries(20), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> list[Any]:
        return super()._deserialize([part for part in value.split(",") if part], attr, data, **kwargs)


def refuse(message: str, field: str) -> ValidationError:
    """Return the error that a schema-wide rule raises about one field."""
    return ValidationError(message, field)

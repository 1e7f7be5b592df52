"""Reads a whole expression: zone, descriptor or fields. Strict, and it reports every mistake with its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import lru_cache

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.timetable.durations import DurationError, go_duration
from scheduler.timetable.elements import HASHED, Element, Kind
from scheduler.timetable.fields import FIVE, SECOND, YEAR, FieldKind
from scheduler.timetable.reading import ElementError, read_element

MAX_CHARACTERS = 256
DESCRIPTORS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
NEVER = frozenset({"@triggered", "@manual", "@none"})
"""Descriptors that parse and never fire."""

_VALID_DESCRIPTORS = ", ".join((*DESCRIPTORS, "@every <duration>", *sorted(NEVER)))
_WORD = re.compile(r"\S+")
_ZONE_PREFIX = re.compile(r"(?:CRON_)?TZ=")
_QUOTED = re.compile(r"""(["'])(.*)\1""")
_SEPARATORS = re.compile(r"[,/-]")
_SMALLEST_YEAR_WORD = 100  # from here on, a number in the sixth field makes it a year


@dataclass(frozen=True, slots=True)
class Word:
    """A run of characters that are not white space, and where it starts, in characters."""

    text: str
    at: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadField:
    """One field as it was written and what its elements say."""

    kind: FieldKind
    text: str
    elements: tuple[Element, ...]
    has_empty_element: bool = False

    @property
    def unrestricted(self) -> bool:
        """Tell whether the field is `*` or `?`."""
        return bool(self.elements) and all(element.kind is Kind.ANY for element in self.elements)

    @property
    def hashed(self) -> bool:
        """Tell whether an H stands in the field."""
        return any(element.kind in HASHED for element in self.elements)


@dataclass(frozen=True, kw_only=True, slots=True)
class Expression:
    """A cron expression that has been read."""

    text: str
    zone: str | None = None  # of a TZ= or CRON_TZ= prefix
    zone_offset: int | None = None  # bytes
    descriptor: str | None = None
    every: timedelta | None = None
    fields: tuple[ReadField, ...] = ()  # empty for @every and for descriptors that never fire

    @property
    def hashed(self) -> bool:
        """Tell whether an H stands in it, so that its meaning depends on a key."""
        return any(field.hashed for field in self.fields)

    def field(self, kind: FieldKind) -> ReadField | None:
        """Return the field of this kind, if the expression has it."""
        return next((field for field in self.fields if field.kind is kind), None)


@lru_cache(maxsize=4_096)
def read_expression(text: str) -> Expression:
    """Return what `text`, already trimmed, says.

    Raises InvalidInputError with one finding per mistake.
    """
    if len(text) > MAX_CHARACTERS:
        message = f"the expression has {len(text)} characters, more than the {MAX_CHARACTERS} allowed"
        raise InvalidInputError(Finding(code="parse_error", message=message, valid_range=f"1-{MAX_CHARACTERS}"))
    words = [Word(match[0], match.start()) for match in _WORD.finditer(text)]
    if not words:
        raise InvalidInputError(Finding(code="parse_error", message="the expression is empty"))
    zone = _zone_prefix(words[0])
    body = words[1:] if zone else words
    if not body:
        raise InvalidInputError(Finding(code="parse_error", message="there is no schedule after the time zone"))
    expression = _read_descriptor(text, body) if body[0].text.startswith("@") else _read_fields(text, body)
    if zone:
        return replace(expression, zone=zone.text, zone_offset=_bytes_before(text, zone.at))
    return expression


def _zone_prefix(word: Word) -> Word | None:
    match = _ZONE_PREFIX.match(word.text)
    if match is None:
        return None
    value, at = word.text[match.end() :], word.at + match.end()
    quoted = _QUOTED.fullmatch(value)
    return Word(quoted[2], at + 1) if quoted else Word(value, at)


def _read_descriptor(text: str, words: list[Word]) -> Expression:
    first, rest = words[0], words[1:]
    if first.text == "@every":
        return Expression(text=text, descriptor="@every", every=_read_every(text, first, rest))
    known = first.text in DESCRIPTORS or first.text in NEVER
    if not known:
        message = f"descriptor field value {first.text} is not a descriptor (valid: {_VALID_DESCRIPTORS})"
        raise InvalidInputError(_finding(text, "descriptor", first, message, _VALID_DESCRIPTORS))
    if rest:
        raise InvalidInputError(_finding(text, "descriptor", rest[0], f"unexpected text after {first.text}"))
    meaning = DESCRIPTORS.get(first.text)
    fields = read_expression(meaning).fields if meaning else ()
    return Expression(text=text, descriptor=first.text, fields=fields)


def _read_every(text: str, descriptor: Word, rest: list[Word]) -> timedelta:
    if len(rest) != 1:
        at = rest[1] if rest else descriptor
        raise InvalidInputError(_finding(text, "@every", at, "@every takes one duration such as 90m or 1h30m"))
    try:
        return go_duration(rest[0].text)
    except DurationError as error:
        message = f"@every field value {rest[0].text} {error}"
        raise InvalidInputError(_finding(text, "@every", rest[0], message)) from None


def _read_fields(text: str, words: list[Word]) -> Expression:
    kinds = _kinds(words)
    findings: list[Finding] = []
    fields = []
    for kind, word in zip(kinds, words, strict=True):
        elements = []
        for element in _elements(word):
            try:
                elements.append(read_element(element.text, kind))
            except ElementError as error:
                findings.append(_element_finding(text, kind, element, error))
        has_empty = "" in word.text.split(",")
        fields.append(ReadField(kind=kind, text=word.text, elements=tuple(elements), has_empty_element=has_empty))
    if findings:
        raise InvalidInputError(*findings)
    return Expression(text=text, fields=tuple(fields))


def _kinds(words: list[Word]) -> tuple[FieldKind, ...]:
    match len(words):
        case 5:
            return FIVE
        case 6 if _looks_like_year(words[5].text):
            return (*FIVE, YEAR)
        case 6:
            return (SECOND, *FIVE)
        case 7:
            return (SECOND, *FIVE, YEAR)
    message = f"expected 5 to 7 fields, found {len(words)}"
    raise InvalidInputError(Finding(code="parse_error", message=message))


def _looks_like_year(text: str) -> bool:
    numbers = (part for part in _SEPARATORS.split(text) if part.isascii() and part.isdigit())
    return any(int(number) >= _SMALLEST_YEAR_WORD for number in numbers)


def _elements(word: Word) -> Iterator[Word]:
    """Yield the elements of a comma list, without the empty ones."""
    at = word.at
    for part in word.text.split(","):
        if part:
            yield Word(part, at)
        at += len(part) + 1


def _element_finding(text: str, kind: FieldKind, element: Word, error: ElementError) -> Finding:
    message = f"{kind.name} field value {error.value} {error.reason}"
    if error.valid_range:
        message += f" (valid: {error.valid_range})"
    return _finding(text, kind.name, Word(error.value, element.at + error.at), message, error.valid_range)


def _finding(text: str, field: str, word: Word, message: str, valid_range: str | None = None) -> Finding:
    return Finding(
        code="parse_error",
        message=message,
        field=field,
        value=word.text,
        valid_range=valid_range,
        offset=_bytes_before(text, word.at),
    )


def _bytes_before(text: str, at: int) -> int:
    return len(text[:at].encode(errors="surrogatepass"))

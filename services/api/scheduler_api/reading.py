"""Reading a request's body: JSON of a bearable size and depth, without anything that no field could hold."""

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

from flask import Request
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.runtime.web import UNREADABLE_BODY

MAX_BODY_BYTES = 1024 * 1024
_MAX_DEPTH = 32


def read_object(request: Request, *, may_be_empty: bool = False) -> Mapping[str, Any]:
    """Return the JSON object in the body.

    Raises UnsupportedMediaType, RequestEntityTooLarge, BadRequest or InvalidInputError.
    """
    body = _read(request)
    if not body and may_be_empty:
        return {}
    if body and request.mimetype and not _is_json(request.mimetype):
        raise UnsupportedMediaType("send JSON, with the header Content-Type: application/json")
    fields = _parse(body)
    if not isinstance(fields, dict):
        _refuse("the body must be a JSON object")
    _check(fields, ())
    return fields


def _read(request: Request) -> bytes:
    try:
        body = request.get_data(cache=True)
    except UNREADABLE_BODY as error:
        raise BadRequest from error
    if request.content_length is None and len(body) >= MAX_BODY_BYTES:
        raise RequestEntityTooLarge  # what goes beyond in a body in chunks was cut off without a word
    return body


def _is_json(mimetype: str) -> bool:
    return mimetype == "application/json" or mimetype.endswith("+json")


def _parse(body: bytes) -> Any:
    try:
        return json.loads(body.decode(), parse_constant=_no_constant)
    except RecursionError:
        _refuse("the body is nested too deeply")
    except ValueError:  # also bytes that are no UTF-8, and numbers of thousands of digits
        _refuse("the body is no JSON")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _check(value: Any, path: tuple[str, ...]) -> None:
    """Refuse what PostgreSQL cannot store, wherever it stands, unknown fields included."""
    if len(path) > _MAX_DEPTH:
        _refuse("the body is nested too deeply", path[:1])
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_text(name, (*path, "?"))
            _check(inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check(inner, (*path, str(number)))
    elif isinstance(value, str):
        _check_text(value, path)
    elif isinstance(value, float) and not math.isfinite(value):
        _refuse("is too large", path)


def _check_text(text: str, path: tuple[str, ...]) -> None:
    if "\0" in text:
        _refuse("must not contain a NUL", path)
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        _refuse("must not contain half of a surrogate pair", path)


def _refuse(message: str, path: tuple[str, ...] = ()) -> NoReturn:
    field = ".".join(path) or None
    code = "invalid_field" if path else "bad_request"
    raise InvalidInputError(Finding(code=code, message=f"{field or ''} {message}".strip(), field=field))

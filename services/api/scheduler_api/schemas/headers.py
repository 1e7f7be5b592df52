"""Headers that a call sends along. Those that look like secrets are never shown again, only their names are."""

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from scheduler_api.schemas.fields import Words

MAX_HEADERS = 50
_MAX_NAME = 128
MAX_VALUE = 4_096
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
VALUE_PATTERN = r"^[\t\x20-\x7e]*$"
_VALUE = re.compile(VALUE_PATTERN, re.ASCII)
_SECRET = re.compile(r"auth|token|secret|key|pass|cookie|credential|session|signature", re.IGNORECASE)
# Set by the scheduler itself or by HTTP; and auth_header has a field of its own.
_RESERVED = frozenset(
    {
        "authorization",
        "connection",
        "content-length",
        "expect",
        "host",
        "idempotency-key",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
    }
)
_RESERVED_PREFIX = "x-scheduler-"

_CALL_HEADERS_WORDS: Words = {
    "invalid": "must be an object of strings",
    "null": "must not be null",
}


def is_secret(name: str) -> bool:
    """Tell whether a header's value must not be shown."""
    return bool(_SECRET.search(name))


class CallHeaders(fields.Dict):
    """An object of header names and values."""

    default_error_messages = _CALL_HEADERS_WORDS

    def __init__(self, **kwargs: Any) -> None:
        name = fields.String(validate=[validate.Length(min=1, max=_MAX_NAME), _check_name])
        value = fields.String(validate=[validate.Length(max=MAX_VALUE), _check_value])
        super().__init__(keys=name, values=value, validate=[_check_count, _check_unlike], **kwargs)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValidationError("is no name of a header")
    if name.lower() in _RESERVED or name.lower().startswith(_RESERVED_PREFIX):
        raise ValidationError("is set by the scheduler itself; for Authorization use auth_header")


def _check_value(value: str) -> None:
    if not _VALUE.fullmatch(value):
        raise ValidationError("must be printable ASCII")


def _check_count(headers: Mapping[str, str]) -> None:
    if len(headers) > MAX_HEADERS:
        raise ValidationError(f"must have at most {MAX_HEADERS} entries")


def _check_unlike(headers: Mapping[str, str]) -> None:
    if len({name.lower() for name in headers}) < len(headers):
        raise ValidationError("must not name a header twice")

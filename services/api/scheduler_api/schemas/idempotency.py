"""Keys that clients make up, so that a repeated request has its effect only once."""

import re

from scheduler.domain.errors import Finding, InvalidInputError

MAX_KEY_CHARACTERS = 255
_KEY = re.compile(rf"[\x21-\x7e]{{1,{MAX_KEY_CHARACTERS}}}", re.ASCII)


def read_key(name: str, value: str | None) -> str | None:
    """Return the key in a header, None without one.

    Raises InvalidInputError.
    """
    if value is None or _KEY.fullmatch(value):
        return value
    message = f"{name} must have 1 to {MAX_KEY_CHARACTERS} printable ASCII characters without spaces"
    raise InvalidInputError(Finding(code="invalid_field", message=message, field=name))

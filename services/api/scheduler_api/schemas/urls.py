"""The URL of a call: absolute, http or https, without credentials, and nothing that readers could read differently."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from scheduler_api.schemas.fields import Text, Words

MAX_URL_CHARACTERS = 2_048
_PATTERN = r"^https?://[^@\s\\/?#]+([/?#][^\s\\]*)?$"  # for readers; what counts stands below
_MAX_PORT = 65_535

_CALL_URL_WORDS: Words = {
    "relative": "must be an absolute http or https URL",
    "user": "must not contain user information; use auth_header",
    "spaces": "must not contain spaces or backslashes",
    "port": "must have a port from 1 to 65535, or none",
}


class CallUrl(Text):
    """An absolute http or https URL."""

    default_error_messages = _CALL_URL_WORDS

    def __init__(self, **kwargs: Any) -> None:
        shown = {"examples": ["https://example.com/webhook"], "format": "uri", "pattern": _PATTERN}
        super().__init__(most=MAX_URL_CHARACTERS, blank=False, metadata=shown, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> str:
        url = super()._deserialize(value, attr, data, **kwargs)
        if "\\" in url or any(map(str.isspace, url)):
            raise self.make_error("spaces")
        parts = self._split(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise self.make_error("relative")
        if "@" in parts.netloc:
            raise self.make_error("user")
        return url

    def _split(self, url: str) -> SplitResult:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise self.make_error("relative") from None
        if port is not None and not 0 < port <= _MAX_PORT:
            raise self.make_error("port")
        return parts

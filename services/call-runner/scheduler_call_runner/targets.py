"""Where a request goes: a URL, taken apart and normalised once."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self
from urllib.parse import urljoin

from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from scheduler.domain.states import Reason
from scheduler_call_runner.failures import CallFailedError

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Who answers. Secrets meant for one origin go to no other."""

    scheme: str
    host: str  # without the brackets of an IPv6 address
    port: int

    def __str__(self) -> str:
        """Return host and port, as they may be shown and as the Host header wants them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Target:
    """An origin and what is asked of it. User information is left out: nobody may put secrets into a URL."""

    origin: Origin
    path: str = field(repr=False)  # with the query
    url: str = field(repr=False)

    @classmethod
    @lru_cache(maxsize=4_096)
    def of(cls, url: str) -> Self:
        """Return the target of an absolute URL.

        Raises CallFailedError for one that cannot be used.
        """
        try:
            parts = parse_url(url)
        except LocationParseError:
            parts = None
        if parts is None or parts.scheme not in DEFAULT_PORTS or not parts.host:
            raise CallFailedError(Reason.BAD_REQUEST, "the URL is no absolute http or https URL")
        port = parts.port or DEFAULT_PORTS[parts.scheme]
        return cls(Origin(parts.scheme, _host(parts.host), port), parts.request_uri, url)

    def follow(self, location: str) -> "Target":
        """Return the target of a redirect.

        Raises CallFailedError for one that must not be followed.
        """
        try:
            target = Target.of(urljoin(self.url, location))
        except (CallFailedError, ValueError):
            raise CallFailedError(
                Reason.BAD_REQUEST, f"{self.origin} redirects to something that is no http or https URL"
            ) from None
        if self.origin.scheme == "https" and target.origin.scheme == "http":
            raise CallFailedError(
                Reason.DENIED, f"{self.origin} redirects from https to http, which would expose the request"
            )
        return target


def _host(written: str) -> str:
    """Return the host as resolvers and certificates know it."""
    host = written.strip("[]").lower()
    try:
        host.encode("idna")
    except UnicodeError:
        raise CallFailedError(Reason.BAD_REQUEST, "the host in the URL can be no name") from None
    return host

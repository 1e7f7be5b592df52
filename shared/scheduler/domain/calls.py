"""A call: a named HTTP request for an app."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

DEFAULT_RETRY_ON = ("connect_error", "429", "502", "503", "504")
DEFAULT_SUCCESS_STATUSES = ("2xx",)
MAX_TIMEOUT_SECONDS = 900


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """When a failed attempt is followed by another."""

    max_attempts: int = 1
    backoff_seconds: float = 1.0
    max_backoff_seconds: float = 60.0
    max_age_seconds: int = 3_600  # no attempt starts later than this after the first
    retry_on: tuple[str, ...] = DEFAULT_RETRY_ON  # also: timeout, runner_lost, any status or class such as 5xx


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What is sent and what counts as success."""

    url: str = field(repr=False)  # its path and query may be secrets
    auth_header: str = field(repr=False)
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: str = field(default="", repr=False)
    connect_timeout_seconds: float = 5.0
    timeout_seconds: float = 30.0  # everything: name look-up, connection, redirects, headers, body
    success_statuses: tuple[str, ...] = DEFAULT_SUCCESS_STATUSES
    follow_redirects: int = 5
    retry: Retry = Retry()


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """A stored call."""

    guid: UUID
    name: str
    request: Request
    app_guid: str
    space_guid: str
    created_at: datetime
    updated_at: datetime

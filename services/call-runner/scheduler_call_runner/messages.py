"""What goes over the wire: a call's definition and the facts of one execution, as HTTP/1.1."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from scheduler import __version__
from scheduler.domain.calls import Request
from scheduler.domain.claims import Claimed
from scheduler.domain.states import Reason
from scheduler_call_runner.exchange import Prepared
from scheduler_call_runner.failures import CallFailedError
from scheduler_call_runner.targets import Target

_METHOD = re.compile(r"(?!CONNECT$|TRACE$)[A-Z]{1,20}")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_UNSAFE_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# These frame the message or steer the connection, and we alone decide about them.
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "keep-alive", "expect", "upgrade", "te", "trailer"}
)
# What a user's header may tell to an origin that a redirect leads to; any other may be a secret.
_HARMLESS = frozenset({"accept", "accept-language", "content-type", "content-language", "user-agent"})
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A request before it is bound to a target; header names in lower case decide, as HTTP wants it."""

    method: str
    headers: Mapping[str, tuple[str, str]] = field(repr=False)  # by lower-case name
    body: bytes = field(default=b"", repr=False)

    def to(self, target: Target) -> Prepared:
        """Return what to send to `target`."""
        lines = [f"{self.method} {target.path} HTTP/1.1", f"Host: {target.origin}"]
        lines += [f"{name}: {value}" for name, value in self.headers.values()]
        if self.body or self.method in _WITH_BODY:
            lines.append(f"Content-Length: {len(self.body)}")
        head = "\r\n".join([*lines, "", ""]).encode()
        return Prepared(self.method, target.origin, head + self.body)

    def without_secrets(self) -> "Message":
        """Return the message for another origin."""
        kept = {key: header for key, header in self.headers.items() if key in _HARMLESS or key in _FACTS}
        return replace(self, headers=kept)

    def as_get(self) -> "Message":
        """Return the message without its body, as redirects ask for that mean: look there for the answer."""
        kept = {key: header for key, header in self.headers.items() if not key.startswith("content-")}
        return replace(self, method="HEAD" if self.method == "HEAD" else "GET", headers=kept, body=b"")


def message_of(request: Request, claimed: Claimed) -> Message:
    """Return the message of one attempt.

    Raises CallFailedError when the definition cannot be sent.
    """
    if not _METHOD.fullmatch(request.method):
        raise CallFailedError(Reason.BAD_REQUEST, "the method cannot be sent")
    headers = {
        "user-agent": ("User-Agent", f"ocf-scheduler/{__version__}"),
        "accept": ("Accept", "*/*"),
        "accept-encoding": ("Accept-Encoding", "identity"),
        **_of_user(request.headers),
    }
    if request.auth_header:
        headers["authorization"] = ("Authorization", _checked("Authorization", request.auth_header))
    headers |= _facts(claimed)
    return Message(method=request.method, headers=headers, body=request.body.encode("utf-8", "replace"))


def _of_user(headers: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    return {name.lower(): (name, _checked(name, value)) for name, value in headers.items() if name.lower() not in _OURS}


def _checked(name: str, value: str) -> str:
    if not _NAME.fullmatch(name) or _UNSAFE_VALUE.search(value):
        raise CallFailedError(Reason.BAD_REQUEST, "a header cannot be sent: it has characters that no header may have")
    return value.strip()


_FACTS = {
    "idempotency-key": "Idempotency-Key",
    "x-scheduler-execution-guid": "X-Scheduler-Execution-Guid",
    "x-scheduler-attempt": "X-Scheduler-Attempt",
    "x-scheduler-schedule-guid": "X-Scheduler-Schedule-Guid",
    "x-scheduler-scheduled-time": "X-Scheduler-Scheduled-Time",
    "x-scheduler-previous-execution-guid": "X-Scheduler-Previous-Execution-Guid",
}


def _facts(claimed: Claimed) -> dict[str, tuple[str, str]]:
    """Return what every request says about its execution. A key that stays the same lets endpoints drop repetitions."""
    values = (
        claimed.guid,
        claimed.guid,
        claimed.attempt,
        claimed.schedule_guid,
        claimed.scheduled_time and _instant(claimed.scheduled_time),
        claimed.previous_execution_guid,
    )
    return {
        key: (name, str(value)) for (key, name), value in zip(_FACTS.items(), values, strict=True) if value is not None
    }


def _instant(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")

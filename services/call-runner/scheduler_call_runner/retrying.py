"""Whether a failed attempt is followed by another, and when."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime

from scheduler.domain.calls import Retry
from scheduler.domain.claims import Claimed, Finish, TryAgain
from scheduler.domain.states import ExecutionState, Reason
from scheduler_call_runner.statuses import matches

JITTER = 0.1  # of the wait, so that calls that failed together do not all come back together


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A failed attempt."""

    reason: Reason
    message: str
    http_status: int | None = None
    duration_ms: int | None = None
    retry_after: str | None = None  # the header, as it came


def settle(failure: Failure, claimed: Claimed, retry: Retry, *, now: datetime) -> Finish | TryAgain:
    """Return the end of the run, or the wait before its next attempt."""
    delay = _delay_seconds(failure, claimed.attempt, retry, now)
    last_start = claimed.first_started_at + timedelta(seconds=retry.max_age_seconds)
    wanted = claimed.attempt < retry.max_attempts and _is_asked_for(failure, retry)
    facts = {
        "reason": failure.reason,
        "message": failure.message,
        "http_status": failure.http_status,
        "duration_ms": failure.duration_ms,
    }
    if wanted and now + timedelta(seconds=delay) <= last_start:
        return TryAgain(delay_seconds=delay, **facts)  # type: ignore[arg-type] # one dictionary, several types
    return Finish(state=ExecutionState.FAILED, **facts)  # type: ignore[arg-type]


# An interrupted call is one whose runner was lost, only more politely: the outcome is as unknown.
_WORDS = {
    Reason.CONNECT_ERROR: "connect_error",
    Reason.TIMEOUT: "timeout",
    Reason.INTERRUPTED: "runner_lost",
}


def _is_asked_for(failure: Failure, retry: Retry) -> bool:
    if failure.http_status is not None:
        return matches(retry.retry_on, failure.http_status)
    return _WORDS.get(failure.reason) in retry.retry_on


def _delay_seconds(failure: Failure, attempt: int, retry: Retry, now: datetime) -> float:
    doubled = retry.backoff_seconds * 2.0 ** min(attempt - 1, 60)
    backoff = min(doubled, retry.max_backoff_seconds)
    jitter = backoff * JITTER * random.random()  # noqa: S311 - no secret
    return max(backoff + jitter, _asked_seconds(failure.retry_after, now))


def _asked_seconds(retry_after: str | None, now: datetime) -> float:
    """Return what a Retry-After header asks for: a number of seconds or a date; 0 when it is neither."""
    words = (retry_after or "").strip()
    if words.isascii() and words.isdigit():
        return min(float(words[:10]), 1e9)
    try:
        return max(0.0, (parsedate_to_datetime(words) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0

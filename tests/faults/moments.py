"""Moments are whole microseconds since 1970, so that instants can be compared exactly."""

import time
from datetime import UTC, datetime

SECOND = 1_000_000


def now() -> int:
    """Return the present moment of the machine's clock, by which PostgreSQL goes as well."""
    return time.time_ns() // 1_000


def moment(instant: datetime | None) -> int | None:
    """Return the moment of an aware datetime."""
    return None if instant is None else _exact(instant)


def parse(text: str) -> int:
    """Return the moment of an RFC 3339 instant."""
    return _exact(datetime.fromisoformat(text))


def show(at: int | None) -> str:
    """Return a moment as people read it."""
    if at is None:
        return "-"
    seconds, micros = divmod(at, SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC):%H:%M:%S}.{micros // 1_000:03d}"


def _exact(instant: datetime) -> int:
    return int(instant.replace(microsecond=0).timestamp()) * SECOND + instant.microsecond

"""Instants as users type them."""

from datetime import UTC, datetime


def read_instant(text: str) -> datetime:
    """Return the RFC 3339 instant in `text`; without an offset it is in UTC.

    Raises ValueError.
    """
    try:
        instant = datetime.fromisoformat(text.strip())
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not an instant such as 2026-11-30T12:00:00Z") from None

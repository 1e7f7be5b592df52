"""Instants and lengths of time, as they are shown."""

from datetime import UTC, datetime

_UNSET = "0001-01-01T00:00:00Z"  # how the reference scheduler writes a time that is not set (checklist 123)


def shown_time(value: object) -> str:
    """Return an RFC 3339 instant in UTC to the second, as one would paste it into an option; nothing for none."""
    instant = read_time(value)
    if instant is None:
        return value if isinstance(value, str) and value != _UNSET else ""
    return instant.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def read_time(value: object) -> datetime | None:
    """Return the instant, None for one that is not set or cannot be read."""
    if not isinstance(value, str) or value in {"", _UNSET}:
        return None
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def shown_seconds(seconds: float) -> str:
    """Return a length of time such as 250 ms, 4.2 s, 3 m 05 s, 2 h 10 m, 3 d 4 h."""
    if seconds < 1:
        return f"{round(seconds * 1_000)} ms"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3_600:
        return f"{whole // 60} m {whole % 60:02} s"
    if whole < 86_400:
        return f"{whole // 3_600} h {whole % 3_600 // 60:02} m"
    return f"{whole // 86_400} d {whole % 86_400 // 3_600} h"


def shown_span(start: object, end: object) -> str:
    """Return how long it lasted; nothing when either end is missing."""
    first, last = read_time(start), read_time(end)
    if first is None or last is None:
        return ""
    return shown_seconds(max(0.0, (last - first).total_seconds()))

"""One-time schedules: a single instant, read in the schedule's zone when it has no offset of its own."""

import re
from contextlib import suppress
from datetime import UTC, datetime

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.domain.states import OnFold, OnGap
from scheduler.timetable.clock import ZoneClock
from scheduler.timetable.contract import Timetable

_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?",
)


class OneTime(Timetable):
    """One instant, or none: a wall time in a gap with `on_gap` = `skip`."""

    def __init__(self, instant: datetime | None, location: str) -> None:
        self.instant = instant
        self.location = location

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the instant while it lies ahead, however far."""
        return self.instant if self.instant is not None and self.instant > instant else None

    def previous_before(self, instant: datetime) -> datetime | None:
        """Return the instant once it has passed."""
        return self.instant if self.instant is not None and self.instant < instant else None

    def count(self, after: datetime, until: datetime) -> int:
        """Return 1 when the instant lies in (after, until]."""
        return 1 if self.instant is not None and after < self.instant <= until else 0


def read_instant(text: str) -> datetime:
    """Return the ISO 8601 instant in `text`: aware when it has an offset, else a wall time.

    Raises InvalidInputError.
    """
    match = _INSTANT.fullmatch(text)
    if match is not None:
        with suppress(ValueError, OverflowError):
            instant = datetime.fromisoformat(text.upper())
            return instant.astimezone(UTC) if match["offset"] else instant
    raise not_an_instant(text)


def not_an_instant(text: str) -> InvalidInputError:
    """Return the error that says that `text` is no instant of the calendar."""
    message = f"{text} is not an ISO 8601 instant such as 2027-01-01T10:30:00Z"
    return InvalidInputError(Finding(code="parse_error", message=message, value=text, offset=0))


def instant_on_clock(wall: datetime, clock: ZoneClock, on_gap: OnGap, on_fold: OnFold) -> datetime | None:
    """Return the instant of a wall time, None when `on_gap` skips it.

    Of a wall time that happens twice it is the earlier reading, unless `later` is asked for: one time is one time.
    """
    change = clock.change_at_wall(wall)
    if change is None:
        utc: datetime | None = clock.plain_reading(wall)
    elif change.is_gap:
        utc = {OnGap.SHIFT: wall - change.before, OnGap.NEXT_VALID: change.at, OnGap.SKIP: None}[on_gap]
    else:
        utc = wall - (change.after if on_fold is OnFold.LATER else change.before)
    return utc.replace(tzinfo=UTC) if utc is not None else None

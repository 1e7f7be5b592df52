"""Fixed rates and @every: due instants at equal distances from an anchor that is stored with the schedule."""

from datetime import UTC, datetime, timedelta

from scheduler.timetable.contract import HORIZON_YEARS, Timetable

_HORIZON = timedelta(days=365.25 * HORIZON_YEARS)
_ZERO = timedelta(0)


class AnchoredRate(Timetable):
    """`anchor + n * interval` for n from 1 on: a restart or another ticker does not shift it.

    A fixed rate keeps the fraction of its anchor's second: schedules spread over the second as their creations did.
    """

    location = "UTC"

    def __init__(self, anchor: datetime, interval: timedelta) -> None:
        self._anchor = anchor.astimezone(UTC)
        self._interval = interval

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first due instant after `instant`."""
        number = max((instant - self._anchor) // self._interval, 0) + 1
        return _within_horizon(self._anchor, self._interval, number, instant)

    def previous_before(self, instant: datetime) -> datetime | None:
        """Return the last due instant before `instant`."""
        number = -((self._anchor - instant) // self._interval) - 1
        if number < 1:
            return None
        found = self._anchor + number * self._interval
        return found if instant - found <= _HORIZON else None

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many due instants lie in (after, until]."""
        return max(self._number_at(until) - self._number_at(after), 0)

    def _number_at(self, instant: datetime) -> int:
        return max((instant - self._anchor) // self._interval, 0)


class RelativeRate(Timetable):
    """The same without an anchor, for an expression that no schedule has yet: it counts from the question."""

    location = "UTC"

    def __init__(self, interval: timedelta) -> None:
        self._interval = interval

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the instant one interval later."""
        return _within_horizon(whole_second(instant), self._interval, 1, instant)

    def previous_before(self, instant: datetime) -> datetime | None:  # noqa: ARG002 - the contract's signature
        """Return None: what has not begun has no past."""
        return None

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many intervals end in (after, until]."""
        return max((until - whole_second(after)) // self._interval, 0)


def _within_horizon(anchor: datetime, interval: timedelta, number: int, instant: datetime) -> datetime | None:
    try:
        found = anchor + number * interval
    except OverflowError:  # behind the end of the calendar
        return None
    return found if found - max(anchor, instant) <= _HORIZON else None


def whole_second(instant: datetime) -> datetime:
    """Return the beginning of the second: cron expressions, `@every` among them, know no smaller unit."""
    return instant.astimezone(UTC).replace(microsecond=0)

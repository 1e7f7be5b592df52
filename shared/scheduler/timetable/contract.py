"""What every timetable can be asked, whatever kind of expression it was made from."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import UTC, datetime

HORIZON_YEARS = 40
"""An expression without a run in this many years never fires."""


@dataclass(frozen=True, slots=True)
class Range:
    """How many due instants lie in a range, and the first and last of them."""

    count: int
    first: datetime
    last: datetime


class Timetable(ABC):
    """The due instants of one definition: strictly increasing, aware, in UTC.

    Equal definitions share one object, and threads may share it.
    """

    location: str
    """The zone in which wall times are read; `UTC` for intervals."""

    @abstractmethod
    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first due instant after `instant`; None when there is none within 40 years."""

    @abstractmethod
    def previous_before(self, instant: datetime) -> datetime | None:
        """Return the last due instant before `instant`; None when there is none within 40 years."""

    @abstractmethod
    def count(self, after: datetime, until: datetime) -> int:
        """Return how many due instants lie in (after, until], without walking them."""

    def runs(self, after: datetime, count: int) -> list[datetime]:
        """Return up to `count` due instants after `after`, oldest first."""
        found: list[datetime] = []
        while len(found) < count and (instant := self.next_after(found[-1] if found else after)) is not None:
            found.append(instant)
        return found

    def previous(self, before: datetime, count: int) -> list[datetime]:
        """Return up to `count` due instants before `before`, newest first."""
        found: list[datetime] = []
        while len(found) < count and (instant := self.previous_before(found[-1] if found else before)) is not None:
            found.append(instant)
        return found

    def count_between(self, after: datetime, until: datetime) -> Range | None:
        """Return count, first and last of the due instants in (after, until]; None when there are none."""
        first = self.next_after(after)
        if first is None or first > until:
            return None
        last = first if (second := self.next_after(first)) is None or second > until else self._last_until(until)
        return Range(1 if last == first else self.count(after, until), first, last)

    def _last_until(self, until: datetime) -> datetime:
        last = until if self.is_due(until) else self.previous_before(until)
        assert last is not None
        return last

    def is_due(self, instant: datetime) -> bool:
        """Tell whether `instant` is one of the due instants."""
        return self.next_after(instant - datetime.resolution) == instant


def naive_utc(instant: datetime) -> datetime:
    """Return an aware instant as a naive datetime in UTC."""
    return instant.astimezone(UTC).replace(tzinfo=None)

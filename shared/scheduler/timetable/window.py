"""A schedule's window: nothing is due before `start_time` or after `end_time`; both ends belong to it."""

from datetime import datetime

from scheduler.timetable.contract import Timetable


class Windowed(Timetable):
    """The due instants of another timetable that lie in a window."""

    def __init__(self, inner: Timetable, start: datetime | None, end: datetime | None) -> None:
        self.location = inner.location
        self.inner = inner
        self._before = start - datetime.resolution if start else None
        self._start, self._end = start, end

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first due instant after `instant`."""
        if self._before is not None and instant < self._before:
            instant = self._before
        found = self.inner.next_after(instant)
        return found if found is not None and (self._end is None or found <= self._end) else None

    def previous_before(self, instant: datetime) -> datetime | None:
        """Return the last due instant before `instant`."""
        if self._end is not None and instant > self._end:
            instant = self._end + datetime.resolution
        found = self.inner.previous_before(instant)
        return found if found is not None and (self._start is None or found >= self._start) else None

    def count(self, after: datetime, until: datetime) -> int:
        """Return how many due instants lie in (after, until]."""
        after = max(after, self._before) if self._before is not None else after
        until = min(until, self._end) if self._end is not None else until
        return self.inner.count(after, until) if after < until else 0

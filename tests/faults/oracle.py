"""When schedules are due, by arithmetic that shares nothing with the product.

Only expressions whose instants follow from the clock's seconds and minutes are used, so that a few lines suffice.
"""

from dataclasses import dataclass

from tests.faults.moments import SECOND

MINUTE = 60 * SECOND


@dataclass(frozen=True, kw_only=True)
class Clockwork:
    """A cron expression that restricts seconds and minutes only; `offset_minutes` is its zone's, east positive."""

    expression: str
    seconds: tuple[int, ...]
    minutes: tuple[int, ...] | None = None  # None: every minute
    offset_minutes: int = 0

    def due(self, after: int, until: int) -> list[int]:
        """Return the instants after `after` and not later than `until`."""
        found = []
        for minute in range(after // MINUTE, until // MINUTE + 1):
            if self.minutes is None or (minute + self.offset_minutes) % 60 in self.minutes:
                found += [minute * MINUTE + second * SECOND for second in self.seconds]
        return [at for at in found if after < at <= until]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A fixed rate; the first instant is one interval after the anchor."""

    expression: str
    seconds: int
    anchor: int

    def due(self, after: int, until: int) -> list[int]:
        """Return the instants after `after` and not later than `until`."""
        step = self.seconds * SECOND
        first = max((after - self.anchor) // step + 1, 1)
        last = (until - self.anchor) // step
        return [self.anchor + number * step for number in range(first, last + 1)]


@dataclass(frozen=True, kw_only=True)
class Once:
    """One instant."""

    expression: str
    at: int

    def due(self, after: int, until: int) -> list[int]:
        """Return the instant if it lies after `after` and not later than `until`."""
        return [self.at] if after < self.at <= until else []


Shape = Clockwork | Interval | Once

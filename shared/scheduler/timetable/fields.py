"""The seven fields of a cron expression: their names, bounds and words."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MAX_YEAR = 9_999

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


@dataclass(frozen=True, slots=True)
class FieldKind:
    """What may stand in one field."""

    name: str  # as findings name it
    low: int
    high: int
    words: Mapping[str, int] = field(default_factory=dict)
    wraps: bool = True  # whether a range may run over the end: 22-2

    @property
    def size(self) -> int:
        """Return how many values the field counts when a range wraps round."""
        return self.high - self.low + 1

    @property
    def valid_range(self) -> str:
        """Return the bounds as findings show them."""
        return f"{self.low}-{self.high}"


SECOND = FieldKind("second", 0, 59)
MINUTE = FieldKind("minute", 0, 59)
HOUR = FieldKind("hour", 0, 23)
DAY_OF_MONTH = FieldKind("day-of-month", 1, 31)
MONTH = FieldKind("month", 1, 12, {word: number for number, word in enumerate(_MONTHS, start=1)})
# Sunday is 0 and 7, so this cycle has eight places: that is the reference engine's arithmetic for steps and for H.
DAY_OF_WEEK = FieldKind("day-of-week", 0, 7, {word: number for number, word in enumerate(_WEEKDAYS)})
YEAR = FieldKind("year", 1, MAX_YEAR, wraps=False)

FIVE = (MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)
"""The fields of the classic form."""

"""One element of a field's comma list: what it says and which values it stands for."""

from dataclasses import dataclass
from enum import Enum, auto

from scheduler.timetable.fields import FieldKind


class Kind(Enum):
    """The forms that an element can have."""

    ANY = auto()  # * or ?
    VALUE = auto()  # 5
    RANGE = auto()  # 5-10, wrapping when it starts after it ends
    STEP = auto()  # */5, 3/5, 3-30/5
    HASH = auto()  # H, H(5-10)
    HASH_STEP = auto()  # H/5, H(5-10)/5
    LAST_DAY = auto()  # L, L-3
    LAST_WEEKDAY = auto()  # LW
    NEAREST_WEEKDAY = auto()  # 15W
    NTH_WEEKDAY = auto()  # FRI#3
    LAST_OF_WEEKDAY = auto()  # FRI#L


HASHED = frozenset({Kind.HASH, Kind.HASH_STEP})
SPECIAL = frozenset(
    {Kind.LAST_DAY, Kind.LAST_WEEKDAY, Kind.NEAREST_WEEKDAY, Kind.NTH_WEEKDAY, Kind.LAST_OF_WEEKDAY},
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Element:
    """A parsed element.

    `low`, `high` and `step` have their plain meaning, except: LAST_DAY counts `low` days back from the last,
    NEAREST_WEEKDAY is around day `low`, and NTH_WEEKDAY is the `step`-th weekday `low`.
    """

    kind: Kind
    low: int = 0
    high: int = 0
    step: int = 1
    whole: bool = False  # a step or hash over the whole field

    def values(self, field: FieldKind, hash_value: int) -> tuple[int, ...]:
        """Return the plain values in firing order; none for the special days, which depend on the month."""
        if self.kind in SPECIAL:
            return ()
        if self.kind is Kind.HASH:
            chosen = self.low + hash_value % self._span(field)
            return (self._wrapped(chosen, field),)
        first = self.low
        if self.kind is Kind.HASH_STEP:
            first += hash_value % self.step
        last = self.low + self._span(field) - 1
        return tuple(self._wrapped(value, field) for value in range(first, last + 1, self.step))

    def _span(self, field: FieldKind) -> int:
        """Return the number of places from `low` to `high`, round the end where the range wraps."""
        return range_size(self.low, self.high, field)

    @staticmethod
    def _wrapped(value: int, field: FieldKind) -> int:
        return (value - field.low) % field.size + field.low


def range_size(low: int, high: int, field: FieldKind) -> int:
    """Return how many values lie from `low` to `high`, round the end of the field where `low` is the larger."""
    return high - low + 1 if low <= high else high - low + 1 + field.size

"""GUIDs of our own: time-ordered (UUID version 7), so that inserts stay local in every index."""

import os
import threading
import time
from datetime import datetime
from uuid import UUID

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_RANDOM_BITS = 62
_COUNTER_BITS = 12


class _Clock:
    """Milliseconds and a counter, never repeated and never going back within a process (RFC 9562, section 6.2).

    Rows of one batch thereby sort in the order in which they were made.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def tick(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, (time.time_ns() // 1_000_000) << _COUNTER_BITS)
            return self._last


_clock = _Clock()


def new_guid() -> UUID:
    """Return a fresh UUID version 7: 48 bits of milliseconds, a counter of 12 bits, 62 random bits."""
    ticks = _clock.tick()
    random = int.from_bytes(os.urandom(8), "big") >> 2
    return _assemble(ticks, random)


def first_guid_at(instant: datetime) -> UUID:
    """Return the smallest version 7 UUID of `instant`'s millisecond, to bound a search by time of creation."""
    return _assemble(int(instant.timestamp() * 1_000) << _COUNTER_BITS, 0)


def _assemble(ticks: int, random: int) -> UUID:
    milliseconds, counter = divmod(ticks, 1 << _COUNTER_BITS)
    return UUID(int=milliseconds << 80 | _VERSION | counter << 64 | _VARIANT | random)

"""GUIDs of our own: time-ordered, so that inserts stay local in every index."""

import os
import time
from uuid import UUID

_VERSION = 0x7 << 76
_VARIANT = 0b10 << 62
_RANDOM_A_MASK = (1 << 12) - 1
_RANDOM_B_MASK = (1 << 62) - 1


def new_guid() -> UUID:
    """Return a fresh UUID version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, 74 random bits."""
    random = int.from_bytes(os.urandom(10), "big")
    milliseconds = time.time_ns() // 1_000_000
    value = (milliseconds << 80) | _VERSION | (((random >> 64) & _RANDOM_A_MASK) << 64)
    return UUID(int=value | _VARIANT | (random & _RANDOM_B_MASK))

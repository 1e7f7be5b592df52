"""Telling "somebody else holds it" from "the database is away"."""

from sqlalchemy.exc import DBAPIError

_LOCK_NOT_AVAILABLE = "55P03"  # lock_timeout passed
_DEADLOCK_DETECTED = "40P01"


def is_contention(error: DBAPIError) -> bool:
    """Tell whether the transaction gave way to another one; nothing of it was kept, and it may be tried again."""
    return getattr(error.orig, "pgcode", None) in {_LOCK_NOT_AVAILABLE, _DEADLOCK_DETECTED}

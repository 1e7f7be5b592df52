"""Time zones: the pinned IANA database (PyPI `tzdata`), never the system's, and fixed offsets.

An update of the operating system can therefore not move a schedule; a newer database arrives with a release, and its
version is stored beside the plans made with it.
"""

import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib.resources import files
from zoneinfo import ZoneInfo

import tzdata  # type: ignore[import-untyped]

MAX_CHARACTERS = 64

_CHARACTERS = re.compile(r"[A-Za-z0-9/_+:-]{1,64}")
_FIXED_OFFSET = re.compile(r"(?:GMT|UTC)([+-])([0-9]{1,2})(?::([0-9]{2}))?")
_MAX_OFFSET_HOURS, _MAX_OFFSET_MINUTES = 23, 59


class UnknownZoneError(Exception):
    """No zone of this name is in the pinned database, and it is no fixed offset."""


def tz_database_version() -> str:
    """Return IANA's name of the pinned database's version, such as 2026a."""
    return str(tzdata.IANA_VERSION)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the name of every zone in the pinned database, aliases included."""
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="utf-8").split())


@lru_cache(maxsize=1_024)
def load_zone(name: str) -> tzinfo:
    """Return the zone called `name`.

    Raises UnknownZoneError, also for `Local`, Windows' names and anything that looks like a path.
    """
    if not _CHARACTERS.fullmatch(name):
        raise UnknownZoneError(name)
    if name == "UTC":
        return UTC
    if name in zone_names():
        return _load(name)
    offset = _fixed_offset(name)
    if offset is None:
        raise UnknownZoneError(name)
    return timezone(offset, name)


def zone_file(name: str) -> bytes:
    """Return the compiled (TZif) file of a zone that is in the database."""
    return files("tzdata.zoneinfo").joinpath(*name.split("/")).read_bytes()


def _load(name: str) -> ZoneInfo:
    with files("tzdata.zoneinfo").joinpath(*name.split("/")).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def _fixed_offset(name: str) -> timedelta | None:
    """Return the offset in a name such as GMT+2:00; east is positive, as users expect and POSIX does not."""
    match = _FIXED_OFFSET.fullmatch(name)
    if match is None:
        return None
    hours, minutes = int(match[2]), int(match[3] or 0)
    if hours > _MAX_OFFSET_HOURS or minutes > _MAX_OFFSET_MINUTES:
        return None
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if match[1] == "-" else offset

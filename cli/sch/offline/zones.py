"""`sch zones`: the time zones of the pinned database (the reference's tzlist, checklist 307)."""

from collections.abc import Iterator
from typing import Any

from scheduler.timetable import tz_database_version
from scheduler.timetable.zone_list import ZoneRow, zone_rows


def zones_document(server_zone: str) -> list[dict[str, Any]]:
    """Return the rows as `GET /scheduler-time-zones` gives them."""
    return [row.document() for row in zone_rows(server_zone)]


def zone_lines(server_zone: str) -> Iterator[str]:
    """Yield the list for reading: a heading, then a zone a line; a star marks the server's."""
    rows = zone_rows(server_zone)
    aliases = sum(len(row.aliases) for row in rows)
    yield f"time zone database {tz_database_version()}: {len(rows)} zones, {aliases} aliases"
    width = max(len(row.name) for row in rows) + 1
    yield from (_line(row, width) for row in rows)


def _line(row: ZoneRow, width: int) -> str:
    name = f"{row.name}*" if row.is_server_time_zone else row.name
    daylight = f", daylight saving {row.rule.dst}. {row.rule.rules}" if row.rule.dst and row.rule.rules else ""
    aliases = f"  [{', '.join(row.aliases)}]" if row.aliases else ""
    return f"{name:{width}} {row.rule.std}{daylight}{aliases}"

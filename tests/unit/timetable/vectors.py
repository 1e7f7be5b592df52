"""The known answers in tests/data/cron, and how a line is asked."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from scheduler.domain.schedules import Definition
from scheduler.timetable import PLACEHOLDER_KEY, Timetable, compile_timetable
from scheduler.timetable.clock import ZoneClock
from scheduler.timetable.cron import CronTimetable

_FOLDER = Path(__file__).parents[2] / "data" / "cron"
_OLD_ZONES = _FOLDER / "zones-2026b"
_CHANGED_SINCE = frozenset({"Africa/Casablanca", "America/Havana"})

Line = Mapping[str, Any]


def lines(name: str) -> Iterator[Line]:
    """Yield the lines of one file."""
    with (_FOLDER / f"{name}.jsonl").open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file)


def key_of(line: Line) -> str:
    """Return the hash key that a line was measured with."""
    return "k" if line["id"] == "b38" else line.get("hash_key", PLACEHOLDER_KEY)


def timetable_of(line: Line, definition: Definition) -> Timetable:
    """Return the timetable of a definition, on the clock that the line's answer was worked out with."""
    timetable = compile_timetable(definition, hash_key=key_of(line))
    if isinstance(timetable, CronTimetable) and timetable.location in _CHANGED_SINCE:
        clock = _old_clock(timetable.location)
        return CronTimetable(timetable.walls, clock, timetable.location, definition.on_gap, definition.on_fold)
    return timetable


def instant(text: str) -> datetime:
    """Return an instant as the lines write it."""
    return datetime.fromisoformat(text).astimezone(UTC)


@cache
def _old_clock(name: str) -> ZoneClock:
    with _OLD_ZONES.joinpath(*name.split("/")).open("rb") as file:
        return ZoneClock(ZoneInfo.from_file(file, key=name))

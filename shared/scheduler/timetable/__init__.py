"""What an expression means: parsing, zones, due instants, description, analysis (docs/timetables.md).

Pure: values and instants in, values out; no clock, no database.
"""

from scheduler.timetable.compiling import compile_timetable, interval_of, zone_of
from scheduler.timetable.contract import HORIZON_YEARS, Range, Timetable
from scheduler.timetable.hashing import PLACEHOLDER_KEY
from scheduler.timetable.zones import tz_database_version

__all__ = [
    "HORIZON_YEARS",
    "PLACEHOLDER_KEY",
    "Range",
    "Timetable",
    "compile_timetable",
    "interval_of",
    "tz_database_version",
    "zone_of",
]

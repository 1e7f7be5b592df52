"""The smallest distance between two runs, for the operator's SCHEDULER_MIN_INTERVAL."""

from datetime import date, datetime, timedelta
from itertools import pairwise

from scheduler.timetable.contract import HORIZON_YEARS
from scheduler.timetable.walls import WallTimes

_DAY = timedelta(days=1)


def smallest_gap(walls: WallTimes, from_year: int) -> timedelta | None:
    """Return the smallest distance between two wall times, None where there are not two.

    Clock changes are left out: that two runs come closer once a year is not what the limit is about.
    """
    day = date(from_year, 1, 1)
    times = [datetime.combine(day, moment) for moment in walls.times]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    if times and _has_neighbouring_days(walls, from_year):
        gaps.append(times[0] + _DAY - times[-1])
    return min(gaps, default=None)


def _has_neighbouring_days(walls: WallTimes, from_year: int) -> bool:
    previous = date(from_year, 1, 1) - 2 * _DAY
    for year in range(from_year, from_year + HORIZON_YEARS):
        for month in range(1, 13):
            for day in walls.days_in(year, month):
                if (this := date(year, month, day)) - previous == _DAY:
                    return True
                previous = this
    return False

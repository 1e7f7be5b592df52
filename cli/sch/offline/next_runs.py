"""`sch next EXPRESSION`: what an expression means and when it runs, worked out here."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from scheduler.domain.schedules import Definition
from scheduler.domain.states import DayMatch, ExpressionType, OnFold, OnGap
from scheduler.timetable.analysis import DEFAULT_NEXT_RUNS, Analysis, Question, analyse
from scheduler.timetable.compiling import DEFAULT_ZONE
from scheduler.timetable.documents import instant_text
from scheduler.timetable.hashing import PLACEHOLDER_KEY
from scheduler.timetable.zones import load_zone


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """An expression and how it is to be read."""

    expression: str
    expression_type: ExpressionType = ExpressionType.CRON
    time_zone: str | None = None
    hash_key: str = PLACEHOLDER_KEY
    day_match: DayMatch = DayMatch.ALL
    on_gap: OnGap = OnGap.SHIFT
    on_fold: OnFold = OnFold.AUTO
    default_zone: str = DEFAULT_ZONE

    @property
    def definition(self) -> Definition:
        """Return the definition that a schedule of this expression would have."""
        return Definition(
            expression=self.expression,
            expression_type=self.expression_type,
            time_zone=self.time_zone,
            day_match=self.day_match,
            on_gap=self.on_gap,
            on_fold=self.on_fold,
        )


def next_runs(asked: Asked, *, start: datetime, count: int = DEFAULT_NEXT_RUNS) -> Analysis:
    """Return the analysis with `count` runs after `start`; mistakes are in it. `analysis_document` makes JSON of it."""
    question = Question(now=start, hash_key=asked.hash_key, default_zone=asked.default_zone, next_count=count)
    return analyse(asked.definition, question)


def run_lines(analysis: Analysis) -> Iterator[str]:
    """Yield one line per run: the instant, and the wall time in the schedule's zone where that differs."""
    zone = load_zone(analysis.location) if analysis.location else None
    for run in analysis.next_runs:
        line = instant_text(run)
        if zone is not None and (wall := run.astimezone(zone)).utcoffset():
            line += f"  {wall:%a %Y-%m-%d %H:%M:%S} {analysis.location}"
        yield line

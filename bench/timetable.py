"""timetable: how fast timetables and plans are, in CPU time of one thread, so that a busy machine does not count.

Collecting garbage is left out, as `timeit` does: a full collection costs what the whole process holds.

* what never fires: how long it takes to refuse `0 0 30 2 *` and 5,000 expressions like it, none of them seen before
* a one-second schedule after an outage of a week: one plan under each misfire policy
* the next run of expressions that are compiled (a warm cache), each asked for an instant that is new to it
* the ordinary plan of a ticker: one instant due on time, a thousand schedules of a few expressions in one batch
"""

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID, uuid4

from bench import report
from scheduler.domain.errors import InvalidInputError
from scheduler.domain.planning import Live
from scheduler.domain.schedules import Definition, Misfire, Schedule
from scheduler.domain.states import MisfirePolicy, RefType
from scheduler.policies import anchored, create_progress, plan
from scheduler.timetable import compile_timetable
from scheduler.timetable.analysis import Question, analyse

NOW = datetime(2026, 11, 30, 12, 0, 30, tzinfo=UTC)
NEVER_COUNT = 5_000
NEXT_RUNS = 2_000
BATCH = 1_000

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe")
EXPRESSIONS = (
    "* * * * *",
    "*/5 * * * *",
    "0 * * * *",
    "30 2 * * *",
    "0 9-17 * * MON-FRI",
    "0 0 1,15 * *",
    "0 0 L * *",
    "15 10 * * FRI#3",
    "*/10 * * * * *",
    "H H * * *",
    "0 0 13 * FRI",
    "0 0 1 1 *",
)


@dataclass(frozen=True)
class Timing:
    """Milliseconds of one measured thing."""

    what: str
    count: int
    median_ms: float
    p99_ms: float
    max_ms: float
    limit_ms: float  # what the product promises, of the value that `limited` names
    limited: str

    @property
    def kept(self) -> bool:
        """Tell whether the promise is kept."""
        return {"median": self.median_ms, "max": self.max_ms}[self.limited] <= self.limit_ms


def timing(what: str, seconds: list[float], limit_ms: float, limited: str) -> Timing:
    """Return the timing of many measurements."""
    ordered = sorted(1_000 * value for value in seconds)
    return Timing(
        what=what,
        count=len(ordered),
        median_ms=statistics.median(ordered),
        p99_ms=ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)],
        max_ms=ordered[-1],
        limit_ms=limit_ms,
        limited=limited,
    )


def measured(work: Iterable[Callable[[], object]]) -> list[float]:
    """Return how long each piece of work takes, in seconds."""
    seconds = []
    gc.collect()
    gc.disable()
    for each in work:
        start = time.thread_time()
        each()
        seconds.append(time.thread_time() - start)
    gc.enable()
    return seconds


def never_firing() -> Iterator[Definition]:
    """Yield definitions that parse and never fire, no two of them alike."""
    days = ("30 2", "31 4", "31 2,4,6,9,11", "30W 2", "31 2")
    weekdays = ("*", "MON", "SUN#5", "1-5")
    for number, (day, weekday, hour, minute) in enumerate(product(days, weekdays, range(24), range(0, 60, 5))):
        if number == NEVER_COUNT:
            return
        yield Definition(expression=f"{minute} {hour} {day} {weekday}", time_zone=ZONES[number % len(ZONES)])


def bench_never() -> Timing:
    """Refuse what never fires, with the whole analysis."""

    def refuse(definition: Definition) -> None:
        (error,) = analyse(definition, Question(now=NOW)).errors
        if error.code != "never_fires":
            raise InvalidInputError(error)

    work = [lambda each=each: refuse(each) for each in never_firing()]
    return timing("refuse what never fires", measured(work), 50, "max")


def bench_outage(policy: MisfirePolicy) -> Timing:
    """Plan a one-second schedule after a week, each time as if for the first time."""
    misfire = Misfire(policy=policy, max_age_seconds=31 * 86_400)
    rounds = [make("* * * * * *", NOW - timedelta(days=7, microseconds=n), misfire=misfire) for n in range(50)]
    work = [lambda each=each: plan(each, Live(), NOW) for each in rounds]
    return timing(f"plan a week of seconds, {policy.value}", measured(work), 50, "max")


def bench_next_run() -> Timing:
    """Ask compiled timetables for the run after an instant that they were not asked about before."""
    asked = []
    for expression, zone in product(EXPRESSIONS, ZONES):
        timetable = compile_timetable(Definition(expression=expression, time_zone=zone), hash_key="bench")
        timetable.runs(NOW - timedelta(days=400), 40)  # warm: the lists and the clock's years are worked out
        instants = [NOW + timedelta(hours=7 * number, seconds=number) for number in range(NEXT_RUNS // 40)]
        asked += [lambda t=timetable, instant=instant: t.next_after(instant) for instant in instants]
    return timing("next run, warm cache", measured(asked), 0.060, "median")


def bench_ordinary_plan() -> Timing:
    """Plan a batch of schedules that share a few expressions, as a ticker does."""
    expressions = ("* * * * *", "*/2 * * * *", "0/4 * * * *", "H H/1 * * *", "@every 30s")
    batch = [make(expressions[number % 5], NOW - timedelta(seconds=31)) for number in range(BATCH)]
    work = [lambda each=each: plan(each, Live(), NOW) for each in batch]
    return timing("ordinary plan in a batch", measured(work), 0.015, "median")


def make(expression: str, created: datetime, **rules: object) -> Schedule:
    """Return a schedule that was created at `created`."""
    definition = anchored(Definition(expression=expression, **rules), now=created)  # type: ignore[arg-type]
    job = uuid4()
    return Schedule(
        guid=UUID(int=job.int ^ 1),
        ref_type=RefType.JOB,
        ref_guid=job,
        space_guid="bench",
        definition=definition,
        progress=create_progress(definition, now=created, hash_key=str(job)),
        created_at=created,
        updated_at=created,
    )


def show(timings: list[Timing]) -> None:
    """Print a table."""
    print(f"{'what':40} {'count':>6} {'median ms':>10} {'p99 ms':>9} {'max ms':>9}   promised")
    for each in timings:
        promise = f"{each.limited} <= {each.limit_ms:g} ms: {'kept' if each.kept else 'BROKEN'}"
        print(f"{each.what:40} {each.count:6} {each.median_ms:10.4f} {each.p99_ms:9.3f} {each.max_ms:9.3f}   {promise}")


def main() -> None:
    """Measure, print and keep the figures; a broken promise is a failure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    timings = [
        bench_never(),
        *(bench_outage(policy) for policy in MisfirePolicy),
        bench_next_run(),
        bench_ordinary_plan(),
    ]
    document = {
        "bench": "timetable",
        "machine": report.machine(),
        "timings": [asdict(each) | {"kept": each.kept} for each in timings],
    }
    if arguments.json:
        print(json.dumps(document, indent=2))
    else:
        show(timings)
    report.RESULTS.mkdir(exist_ok=True)
    (report.RESULTS / "timetable.json").write_text(json.dumps(document, indent=2) + "\n")
    if not all(each.kept for each in timings):
        sys.exit(1)


if __name__ == "__main__":
    main()

"""H spreads load without moving; equal meanings share one timetable."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID

import pytest

from scheduler.domain.schedules import Definition
from scheduler.timetable import Timetable, compile_timetable
from scheduler.timetable.hashing import fnv1a

_NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def _timetable(expression: str, key: str = "") -> Timetable:
    return compile_timetable(Definition(expression=expression), hash_key=key)


def test_the_hash_is_fnv_1a_of_64_bits() -> None:
    # the published test vectors of the algorithm
    assert [fnv1a(key) for key in ("", "a", "foobar")] == [0xCBF29CE484222325, 0xAF63DC4C8601EC8C, 0x85944171F73967E8]


def test_the_known_answer_of_the_reference() -> None:
    # checklist 134
    run = _timetable("H(15-45) 2 * * *", "job-guid-A").next_after(_NOW)
    assert run is not None
    assert (run.hour, run.minute) == (2, 18)


@pytest.mark.parametrize(
    ("expression", "key", "minutes"),
    [
        ("H/15 * * * *", "job-guid-A", {fnv1a("job-guid-A") % 15 + 15 * n for n in range(4)}),
        ("H/1 * * * *", "job-guid-A", {fnv1a("job-guid-A") % 60}),
        (
            "H(50-10)/7 * * * *",
            "x",
            {(50 + fnv1a("x") % 7 + 7 * n) % 60 for n in range((20 - fnv1a("x") % 7) // 7 + 1)},
        ),
        ("H(50-10) * * * *", "x", {(50 + fnv1a("x") % 21) % 60}),
        ("5,H,H * * * *", "x", {5, fnv1a("x") % 60}),
    ],
)
def test_h_resolves_within_its_range(expression: str, key: str, minutes: set[int]) -> None:
    assert {run.minute for run in _timetable(expression, key).runs(_NOW, 30)} == minutes


def test_many_jobs_are_spread_over_the_hour() -> None:
    runs = (_timetable("H * * * *", str(UUID(int=number))).next_after(_NOW) for number in range(6_000))
    counts = Counter(run.minute for run in runs if run is not None)
    assert len(counts) == 60
    assert max(counts.values()) < 2 * 6_000 / 60


def test_equal_meanings_share_one_timetable() -> None:
    assert _timetable("*/5 * * * *", "one") is _timetable(" */5 * * * * ", "another")
    assert _timetable("@hourly") is _timetable("0 * * * *")
    assert _timetable("H * * * *", "one") is _timetable(f"{fnv1a('one') % 60} * * * *")
    assert _timetable("H * * * *", "one") is not _timetable("H * * * *", "another")


def test_threads_may_share_a_timetable() -> None:
    expected = list(_timetable("*/7 1-5 * * MON-FRI").runs(_NOW, 200))

    def ask(number: int) -> list[datetime]:
        compile_timetable.__globals__["_cron"].cache_clear()
        return _timetable("*/7 1-5 * * MON-FRI").runs(expected[number], 20)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(150)))
    assert answers == [expected[number + 1 : number + 21] for number in range(150)]


def test_descriptors_that_never_fire_parse() -> None:
    for descriptor in ("@triggered", "@manual", "@none", "TZ=UTC @none"):
        timetable = _timetable(descriptor)
        assert timetable.next_after(_NOW) is None
        assert timetable.previous(_NOW, 1) == []
        assert timetable.count_between(_NOW, datetime(2030, 1, 1, tzinfo=UTC)) is None

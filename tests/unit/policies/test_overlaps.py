"""Overlap rules: what a due instant becomes while the previous run is PENDING or RUNNING."""

from typing import Any
from uuid import UUID

import pytest

from scheduler.domain.planning import Live, OpenSkip
from scheduler.domain.states import ExecutionState, ExpressionType, MisfirePolicy, Overlap, Reason
from scheduler.policies import admits, broken_rules, default_overlap, plan, state_of_triggered
from tests.unit.policies.making import NOTHING, at, missing, plan_until_done, runs, schedule, skips

_RUNNING = Live(running=1)
_PENDING = Live(pending=1)


@pytest.mark.parametrize("live", [NOTHING, _RUNNING, _PENDING, Live(pending=9, running=9)])
@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.SERIALIZE])
def test_allow_and_serialize_create_every_run(overlap: Overlap, live: Live) -> None:
    assert runs(plan(schedule(overlap=overlap), live, at("12:01:01")).rows) == [("schedule", "12:01")]


@pytest.mark.parametrize("live", [_RUNNING, _PENDING])
def test_skip_records_the_overlap(live: Live) -> None:
    planned = plan(schedule(overlap=Overlap.SKIP), live, at("12:01:01"))
    assert skips(planned.rows) == [("overlap", "12:01", "12:01", 1)]
    assert planned.rows[0].scheduled_time == at("12:01")
    assert (planned.progress.skipped_count, planned.progress.run_count) == (1, 0)


def test_a_plan_counts_its_own_rows_as_live() -> None:
    patient = missing(MisfirePolicy.RUN_ONCE, grace_seconds=3_600)
    planned = plan(schedule(overlap=Overlap.SKIP, misfire=patient), NOTHING, at("12:10:30"))
    assert runs(planned.rows) == [("schedule", "12:01")]
    assert skips(planned.rows) == [("overlap", "12:02", "12:10", 9)]


def test_consecutive_overlaps_grow_one_row() -> None:
    guid = UUID(int=7)
    open_skip = OpenSkip(
        guid=guid, reason=Reason.OVERLAP, covers_from=at("11:50"), covers_to=at("12:00"), covers_count=11
    )
    live = Live(running=1, open_skip=open_skip)
    (row,) = plan(schedule(overlap=Overlap.SKIP), live, at("12:01:01")).rows
    assert (row.grows, row.covers_from, row.covers_to, row.covers_count) == (guid, at("11:50"), at("12:01"), 12)
    assert row.scheduled_time == at("12:01")
    assert plan(schedule(overlap=Overlap.SKIP), live, at("12:01:01")).progress.skipped_count == 1


def test_a_row_of_another_reason_does_not_grow() -> None:
    open_skip = OpenSkip(
        guid=UUID(int=7), reason=Reason.MISFIRE, covers_from=at("11:50"), covers_to=at("12:00"), covers_count=11
    )
    (row,) = plan(schedule(overlap=Overlap.SKIP), Live(running=1, open_skip=open_skip), at("12:01:01")).rows
    assert row.grows is None


def test_a_run_in_between_ends_the_growth() -> None:
    open_skip = OpenSkip(
        guid=UUID(int=7), reason=Reason.OVERLAP, covers_from=at("11:50"), covers_to=at("12:00"), covers_count=11
    )
    patient = missing(MisfirePolicy.RUN_ONCE, grace_seconds=3_600)
    planned = plan(schedule(overlap=Overlap.SKIP, misfire=patient), Live(open_skip=open_skip), at("12:03:30"))
    assert [row.grows for row in planned.rows] == [None, None]


@pytest.mark.parametrize(
    ("pending", "running", "expected"),
    [(0, 0, 2), (1, 0, 1), (2, 0, 0), (0, 1, 1), (1, 1, 0), (0, 3, 1), (3, 2, 0)],
)
def test_with_wait_one_run_waits_and_further_ones_are_skipped(pending: int, running: int, expected: int) -> None:
    patient = missing(MisfirePolicy.RUN_ONCE, grace_seconds=3_600)
    waiting = schedule(overlap=Overlap.WAIT, misfire=patient)
    planned = plan(waiting, Live(pending=pending, running=running), at("12:05:30"))
    assert len(runs(planned.rows)) == expected
    assert sum(count for *_, count in skips(planned.rows)) == 5 - expected


def test_a_missed_range_obeys_the_rule_as_well() -> None:
    planned = plan(schedule(overlap=Overlap.SKIP), _RUNNING, at("20:00:30"))
    assert skips(planned.rows) == [("overlap", "12:01", "20:00", 480)]
    assert (planned.progress.missed_count, planned.progress.skipped_count) == (479, 480)


def test_catching_up_under_wait_fills_the_one_waiting_place() -> None:
    waiting = schedule(overlap=Overlap.WAIT, misfire=missing(MisfirePolicy.CATCH_UP))
    done, rows, passes = plan_until_done(waiting, _RUNNING, at("20:00:30"))
    assert passes == 1
    assert runs(rows) == [("catch_up", "12:01")]
    assert skips(rows) == [("overlap", "12:02", "20:00", 479)]
    assert done.progress.missed_count == 479


def test_catching_up_under_serialize_queues_every_run() -> None:
    queueing = schedule(overlap=Overlap.SERIALIZE, misfire=missing(MisfirePolicy.CATCH_UP))
    _, rows, _ = plan_until_done(queueing, _RUNNING, at("20:00:30"))
    assert len(runs(rows)) == 480


@pytest.mark.parametrize("overlap", Overlap)
def test_a_triggered_run_obeys_the_rule_like_any_other(overlap: Overlap) -> None:
    assert state_of_triggered(overlap, NOTHING) is ExecutionState.PENDING
    blocked = {Overlap.SKIP: ExecutionState.SKIPPED}.get(overlap, ExecutionState.PENDING)
    assert state_of_triggered(overlap, _RUNNING) is blocked
    assert admits(overlap, pending=5, running=1) is (overlap in {Overlap.ALLOW, Overlap.SERIALIZE})


def test_cron_runs_beside_itself_and_a_fixed_rate_waits_unless_told_otherwise() -> None:
    assert default_overlap(ExpressionType.CRON) is Overlap.ALLOW
    assert default_overlap(ExpressionType.ONE_TIME) is Overlap.ALLOW
    assert default_overlap(ExpressionType.FIXED_RATE) is Overlap.WAIT


def test_catching_up_together_with_skip_is_refused() -> None:
    wanted = schedule(overlap=Overlap.SKIP, misfire=missing(MisfirePolicy.CATCH_UP)).definition
    assert [finding.code for finding in broken_rules(wanted)] == ["catch_up_with_skip"]


@pytest.mark.parametrize(
    ("definition", "fields"),
    [
        ({}, []),
        ({"misfire": missing(MisfirePolicy.SKIP, grace_seconds=86_401)}, ["misfire.grace_seconds"]),
        ({"misfire": missing(MisfirePolicy.SKIP, grace_seconds=-1)}, ["misfire.grace_seconds"]),
        (
            {"misfire": missing(MisfirePolicy.SKIP, max_runs=0, max_age_seconds=59)},
            ["misfire.max_runs", "misfire.max_age_seconds"],
        ),
        ({"misfire": missing(MisfirePolicy.SKIP, max_runs=10_000, max_age_seconds=31 * 86_400)}, []),
        ({"start_time": at("13:00"), "end_time": at("12:59")}, ["end_time"]),
        ({"start_time": at("13:00"), "end_time": at("13:00")}, []),
        ({"max_runs": 0, "start_deadline_seconds": -1}, ["max_runs", "start_deadline_seconds"]),
    ],
)
def test_numbers_have_bounds(definition: dict[str, Any], fields: list[str]) -> None:
    assert [finding.field for finding in broken_rules(schedule("0 13 * * *", **definition).definition)] == fields

"""Misfire policies, grace, catch-up and its limits (timetables, section 4)."""

from dataclasses import replace

import pytest

from scheduler.domain.states import (
    ExecutionState,
    ExpressionType,
    MisfirePolicy,
    Overlap,
    Reason,
    ScheduleState,
    Trigger,
)
from scheduler.policies import MAX_ROWS, plan, revalidate
from scheduler.timetable import compile_timetable
from tests.unit.policies.making import (
    CREATED,
    DAY,
    HOUR,
    MINUTE,
    NOTHING,
    after,
    at,
    missing,
    plan_until_done,
    runs,
    schedule,
    skips,
)

_CATCH_UP = missing(MisfirePolicy.CATCH_UP)


def test_a_due_instant_runs_and_the_next_one_is_looked_for() -> None:
    planned = plan(schedule(), NOTHING, at("12:01:00.2"))
    (row,) = planned.rows
    assert (row.scheduled_time, row.state, row.trigger) == (at("12:01"), ExecutionState.PENDING, Trigger.SCHEDULE)
    assert (row.covers_from, row.covers_to, row.covers_count, row.grows) == (None, None, None, None)
    progress = planned.progress
    assert (progress.cursor_at, progress.next_fire_at, progress.last_fire_at) == (
        at("12:01:00.2"),
        at("12:02"),
        at("12:01"),
    )
    assert (progress.run_count, progress.missed_count, progress.skipped_count) == (1, 0, 0)


def test_a_tick_that_comes_early_changes_nothing_but_the_cursor() -> None:
    planned = plan(schedule(), NOTHING, at("12:00:59"))
    assert planned.rows == ()
    assert (planned.progress.cursor_at, planned.progress.next_fire_at) == (at("12:00:59"), at("12:01"))


def test_a_new_schedule_has_no_past() -> None:
    assert schedule().progress.next_fire_at == at("12:01")
    assert runs(plan(schedule(), NOTHING, at("12:01:59")).rows) == [("schedule", "12:01")]


def test_a_minutely_schedule_makes_up_once_for_eight_hours() -> None:
    planned = plan(schedule(), NOTHING, at("20:00:30"))
    assert runs(planned.rows) == [("misfire", "19:59"), ("schedule", "20:00")]
    covering = planned.rows[0]
    assert (covering.covers_from, covering.covers_to, covering.covers_count) == (at("12:01"), at("19:59"), 479)
    assert (planned.progress.missed_count, planned.progress.skipped_count, planned.progress.run_count) == (479, 0, 2)


def test_a_minutely_schedule_skips_eight_hours() -> None:
    planned = plan(schedule(misfire=missing(MisfirePolicy.SKIP)), NOTHING, at("20:00:30"))
    assert runs(planned.rows) == [("schedule", "20:00")]
    assert skips(planned.rows) == [("misfire", "12:01", "19:59", 479)]
    assert (planned.progress.missed_count, planned.progress.skipped_count, planned.progress.run_count) == (479, 479, 1)


def test_a_minutely_schedule_catches_up_with_eight_hours_fifty_at_a_time() -> None:
    first = plan(schedule(misfire=_CATCH_UP), NOTHING, at("20:00:30"))
    assert len(first.rows) == MAX_ROWS
    assert (first.progress.cursor_at, first.progress.next_fire_at) == (at("12:50"), at("20:00:30"))
    assert first.progress.episode_count == 50
    caught_up, rows, passes = plan_until_done(schedule(misfire=_CATCH_UP), NOTHING, at("20:00:30"))
    assert passes == 10
    assert runs(rows)[:2] == [("catch_up", "12:01"), ("catch_up", "12:02")]
    assert runs(rows)[-2:] == [("catch_up", "19:59"), ("schedule", "20:00")]
    assert len({row.scheduled_time for row in rows}) == len(rows) == 480
    assert (caught_up.progress.episode_count, caught_up.progress.missed_count) == (0, 479)


def test_an_instant_is_missed_when_it_is_more_than_the_grace_late() -> None:
    once = schedule("0 13 * * *")
    assert runs(plan(once, NOTHING, at("13:01:00")).rows) == [("schedule", "13:00")]
    assert runs(plan(once, NOTHING, at("13:01:00.000001")).rows) == [("misfire", "13:00")]
    strict = schedule("0 13 * * *", misfire=missing(MisfirePolicy.SKIP, grace_seconds=0))
    assert runs(plan(strict, NOTHING, at("13:00")).rows) == [("schedule", "13:00")]
    assert skips(plan(strict, NOTHING, at("13:00:00.000001")).rows) == [("misfire", "13:00", "13:00", 1)]


def test_each_instant_within_the_grace_runs_fifty_at_a_time() -> None:
    patient = schedule(misfire=missing(MisfirePolicy.SKIP, grace_seconds=86_400))
    done, rows, passes = plan_until_done(patient, NOTHING, at("14:00:30"))
    assert passes == 3
    assert [trigger for trigger, _ in runs(rows)] == ["schedule"] * 120
    assert (done.progress.missed_count, done.progress.skipped_count) == (0, 0)


def test_catching_up_stops_at_its_number_of_runs_and_asks_for_a_review() -> None:
    limited = schedule(misfire=missing(MisfirePolicy.CATCH_UP, max_runs=70))
    done, rows, passes = plan_until_done(limited, NOTHING, at("20:00:30"))
    assert (passes, len(rows)) == (2, 70)
    progress = done.progress
    assert (progress.state, progress.next_fire_at, progress.cursor_at) == (
        ScheduleState.NEEDS_REVIEW,
        None,
        at("13:10"),
    )
    assert plan(done, NOTHING, at("20:05")).rows == ()


def test_the_number_of_runs_is_no_limit_when_it_is_just_enough() -> None:
    enough = schedule(misfire=missing(MisfirePolicy.CATCH_UP, max_runs=479))
    done, rows, _ = plan_until_done(enough, NOTHING, at("20:00:30"))
    assert done.progress.state is ScheduleState.ACTIVE
    assert len(rows) == 480


def test_the_limit_of_an_episode_survives_a_restart_and_ends_with_the_episode() -> None:
    limited = schedule(misfire=missing(MisfirePolicy.CATCH_UP, max_runs=70))
    first = after(limited, plan(limited, NOTHING, at("12:52:30")))
    second = after(first, plan(first, NOTHING, at("12:53:30")))
    assert (first.progress.episode_count, second.progress.episode_count) == (50, 0)
    third = after(second, plan(second, NOTHING, at("13:40:30")))
    assert third.progress.state is ScheduleState.ACTIVE


def test_catching_up_refuses_what_is_too_old_and_asks_for_a_review() -> None:
    forgetful = schedule(misfire=missing(MisfirePolicy.CATCH_UP, max_age_seconds=3_600))
    planned = plan(forgetful, NOTHING, at("20:00:30"))
    assert planned.rows == ()
    assert planned.progress.state is ScheduleState.NEEDS_REVIEW
    in_time = plan(forgetful, NOTHING, at("13:01"))
    assert runs(in_time.rows)[0] == ("catch_up", "12:01")


def test_revalidating_records_what_was_left_out_and_goes_on_from_now() -> None:
    limited = schedule(misfire=missing(MisfirePolicy.CATCH_UP, max_runs=10))
    stuck, _, _ = plan_until_done(limited, NOTHING, at("20:00:30"))
    planned = revalidate(stuck, at("20:10:30"))
    assert skips(planned.rows) == [("review", "12:11", "20:10", 480)]
    progress = planned.progress
    assert (progress.state, progress.next_fire_at, progress.episode_count) == (ScheduleState.ACTIVE, at("20:11"), 0)
    assert progress.skipped_count == 480


def test_revalidating_what_needs_no_review_changes_nothing() -> None:
    healthy = schedule()
    assert revalidate(healthy, at("20:00")).rows == ()
    assert revalidate(healthy, at("20:00")).progress == healthy.progress


@pytest.mark.parametrize("policy", MisfirePolicy)
@pytest.mark.parametrize("overlap", [Overlap.ALLOW, Overlap.WAIT, Overlap.SERIALIZE])
def test_a_week_of_seconds_is_counted_exactly(policy: MisfirePolicy, overlap: Overlap) -> None:
    secondly = schedule("* * * * * *", misfire=missing(policy, max_age_seconds=31 * 86_400), overlap=overlap)
    now = CREATED + 7 * DAY
    planned = plan(secondly, NOTHING, now)
    assert len(planned.rows) <= MAX_ROWS
    if policy is not MisfirePolicy.CATCH_UP:
        assert planned.rows[0].covers_count == 7 * 86_400 - 61
    elif overlap is Overlap.WAIT:
        assert sum(row.covers_count or 1 for row in planned.rows) == 7 * 86_400


@pytest.mark.parametrize("policy", MisfirePolicy)
def test_an_outage_over_clock_changes_is_counted_as_if_it_were_walked(policy: MisfirePolicy) -> None:
    created = at("2027-03-01T00:00:00+00:00")
    now = at("2027-11-30T12:00:00+00:00")
    berlin = schedule(
        "*/20 1-3 * * *", created=created, time_zone="Europe/Berlin", misfire=missing(policy, max_runs=9_999)
    )
    timetable = compile_timetable(berlin.definition, hash_key="")
    walked = [run for run in timetable.runs(created, 9 * 300) if run <= now]
    if policy is MisfirePolicy.CATCH_UP:
        generous = replace(berlin.definition, misfire=replace(berlin.definition.misfire, max_age_seconds=366 * 86_400))
        _, rows, _ = plan_until_done(replace(berlin, definition=generous), NOTHING, now)
        assert [row.scheduled_time for row in rows] == walked
    else:
        (row,) = plan(berlin, NOTHING, now).rows
        assert (row.covers_from, row.covers_to, row.covers_count) == (walked[0], walked[-1], len(walked))


def test_a_clock_that_steps_back_takes_nothing_back() -> None:
    ahead = after(schedule(), plan(schedule(), NOTHING, at("12:05:30")))
    planned = plan(ahead, NOTHING, at("12:04:00"))
    assert planned.rows == ()
    assert (planned.progress.cursor_at, planned.progress.next_fire_at) == (at("12:05:30"), at("12:06"))


def test_a_fixed_rate_is_not_shifted_by_outages_or_runs_in_between() -> None:
    rate = schedule("PT5M", expression_type=ExpressionType.FIXED_RATE)
    assert rate.progress.next_fire_at == CREATED + 5 * MINUTE
    planned = plan(rate, NOTHING, at("13:07"))
    assert [row.scheduled_time for row in planned.rows] == [at("13:05:30")]
    assert planned.rows[0].covers_count == 13
    assert planned.progress.next_fire_at == at("13:10:30")


class TestOneTime:
    """A one-time schedule is due once, however late."""

    @pytest.mark.parametrize("policy", MisfirePolicy)
    def test_an_instant_a_year_back_is_due_at_once(self, policy: MisfirePolicy) -> None:
        once = schedule("2025-11-30T12:00:00Z", expression_type=ExpressionType.ONE_TIME, misfire=missing(policy))
        assert once.progress.next_fire_at is not None
        assert once.progress.next_fire_at <= CREATED
        planned = plan(once, NOTHING, CREATED + HOUR)
        (row,) = planned.rows
        assert (row.trigger, row.scheduled_time) == (Trigger.SCHEDULE, at("2025-11-30T12:00:00+00:00"))
        assert (planned.progress.state, planned.progress.next_fire_at) == (ScheduleState.FINISHED, None)

    @pytest.mark.parametrize("policy", [MisfirePolicy.RUN_ONCE, MisfirePolicy.CATCH_UP])
    def test_an_outage_over_its_instant_does_not_touch_it(self, policy: MisfirePolicy) -> None:
        once = schedule("2026-11-30T13:00:00Z", expression_type=ExpressionType.ONE_TIME, misfire=missing(policy))
        planned = plan(once, NOTHING, at("13:00") + 30 * DAY)
        assert runs(planned.rows) == [("schedule", "13:00")]
        assert planned.rows[0].covers_count is None
        assert planned.progress.state is ScheduleState.FINISHED

    def test_skip_applies_when_the_scheduler_was_down_at_the_instant(self) -> None:
        policy = missing(MisfirePolicy.SKIP)
        once = schedule("2026-11-30T13:00:00Z", expression_type=ExpressionType.ONE_TIME, misfire=policy)
        assert runs(plan(once, NOTHING, at("13:00:59")).rows) == [("schedule", "13:00")]
        planned = plan(once, NOTHING, at("15:00"))
        assert skips(planned.rows) == [("misfire", "13:00", "13:00", 1)]
        assert planned.progress.state is ScheduleState.FINISHED

    def test_the_end_of_the_calendar_can_be_waited_for(self) -> None:
        once = schedule("9999-12-31T23:59:59Z", expression_type=ExpressionType.ONE_TIME)
        assert once.progress.next_fire_at == at("9999-12-31T23:59:59+00:00")
        assert plan(once, NOTHING, at("20:00")).rows == ()

    def test_it_finishes_after_its_run_and_keeps_it(self) -> None:
        once = schedule("2026-11-30T13:00:00Z", expression_type=ExpressionType.ONE_TIME)
        done = after(once, plan(once, NOTHING, at("13:00:01")))
        assert (done.progress.last_fire_at, done.progress.run_count) == (at("13:00"), 1)
        assert plan(done, NOTHING, at("14:00")).rows == ()


def test_nothing_is_due_outside_the_window() -> None:
    bounded = schedule("0 * * * *", start_time=at("14:00"), end_time=at("16:00"))
    assert bounded.progress.next_fire_at == at("14:00")
    done, rows, _ = plan_until_done(bounded, NOTHING, at("20:00"))
    assert [(row.scheduled_time, row.covers_count) for row in rows] == [(at("16:00"), 3)]
    assert done.progress.state is ScheduleState.FINISHED


def test_a_schedule_finishes_with_its_last_allowed_run() -> None:
    thrice = schedule(max_runs=3, misfire=missing(MisfirePolicy.CATCH_UP))
    done, rows, _ = plan_until_done(thrice, NOTHING, at("20:00:30"))
    assert runs(rows) == [("catch_up", "12:01"), ("catch_up", "12:02"), ("catch_up", "12:03")]
    assert (done.progress.state, done.progress.next_fire_at) == (ScheduleState.FINISHED, None)
    once = schedule(max_runs=1)
    assert runs(plan(once, NOTHING, at("12:01:01")).rows) == [("schedule", "12:01")]
    assert plan(once, NOTHING, at("12:01:01")).progress.state is ScheduleState.FINISHED


def test_a_schedule_finishes_when_its_years_are_over() -> None:
    last = schedule("59 23 31 12 * 2026")
    planned = plan(last, NOTHING, at("2026-12-31T23:59:01+00:00"))
    assert runs(planned.rows) == [("schedule", "23:59")]
    assert planned.progress.state is ScheduleState.FINISHED


def test_skipped_rows_give_their_reason() -> None:
    planned = plan(schedule(misfire=missing(MisfirePolicy.SKIP)), NOTHING, at("20:00:30"))
    assert [row.reason for row in planned.rows] == [Reason.MISFIRE, None]

"""Pause, resume, revalidate, edit, unbind and rebind: nothing is lost and nothing fires because of a change."""

from dataclasses import replace
from datetime import timedelta

import pytest

from scheduler.domain.errors import InvalidInputError
from scheduler.domain.planning import Live
from scheduler.domain.schedules import Definition
from scheduler.domain.states import (
    ExpressionType,
    MisfirePolicy,
    Overlap,
    PausedBy,
    ResumePolicy,
    ScheduleState,
)
from scheduler.policies import (
    anchored,
    edit,
    end_of_parent,
    pause,
    plan,
    rebind,
    replan_next_fire,
    resume,
    revalidate,
    unbind,
)
from tests.unit.policies.making import (
    CREATED,
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


def test_a_pause_stops_planning_and_says_who_and_why() -> None:
    planned = pause(schedule(), NOTHING, at("12:00:45"), note="maintenance")
    progress = planned.progress
    assert planned.rows == ()
    assert (progress.enabled, progress.state, progress.next_fire_at) == (False, ScheduleState.PAUSED, None)
    assert (progress.paused_by, progress.pause_note) == (PausedBy.USER, "maintenance")
    paused = after(schedule(), planned)
    assert plan(paused, NOTHING, at("20:00")).rows == ()
    assert plan(paused, NOTHING, at("20:00")).progress == progress


def test_what_is_due_is_planned_before_the_pause() -> None:
    planned = pause(schedule(), NOTHING, at("12:01:05"))
    assert runs(planned.rows) == [("schedule", "12:01")]
    assert planned.progress.cursor_at == at("12:01:05")


def test_the_rest_of_a_catch_up_is_recorded_as_paused() -> None:
    planned = pause(schedule(misfire=_CATCH_UP), NOTHING, at("20:00:30"))
    assert len(runs(planned.rows)) == 50
    assert skips(planned.rows) == [("paused", "12:51", "20:00", 430)]
    assert planned.progress.episode_count == 0


@pytest.mark.parametrize(
    ("policy", "made", "left_out"),
    [
        (ResumePolicy.SKIP_PAUSED, [], [("paused", "12:01", "13:00", 60)]),
        (ResumePolicy.RUN_ONCE, [("misfire", "13:00")], []),
        (ResumePolicy.CATCH_UP, [("catch_up", f"{12 + n // 60}:{n % 60:02}") for n in range(1, 61)], []),
    ],
)
def test_resuming_says_what_becomes_of_the_instants_missed_meanwhile(
    policy: ResumePolicy, made: list[tuple[str, str]], left_out: list[tuple[str, str, str, int]]
) -> None:
    paused = after(schedule(), pause(schedule(), NOTHING, at("12:00:45")))
    planned = resume(paused, NOTHING, at("13:00:10"), missed=policy)
    done, rows, _ = plan_until_done(after(paused, planned), NOTHING, at("13:00:20"))
    assert runs([*planned.rows, *rows]) == made
    assert skips([*planned.rows, *rows]) == left_out
    assert (done.progress.enabled, done.progress.state) == (True, ScheduleState.ACTIVE)
    assert (done.progress.paused_by, done.progress.resume_policy, done.progress.resume_to) == (None, None, None)
    assert done.progress.next_fire_at == at("13:01")


def test_one_run_for_a_pause_covers_its_whole_range() -> None:
    paused = after(schedule(), pause(schedule(), NOTHING, at("12:00:45")))
    (row,) = resume(paused, NOTHING, at("13:00:10"), missed=ResumePolicy.RUN_ONCE).rows
    assert (row.covers_from, row.covers_to, row.covers_count) == (at("12:01"), at("13:00"), 60)


def test_a_catch_up_after_a_pause_goes_on_beside_new_instants() -> None:
    paused = after(schedule(), pause(schedule(), NOTHING, at("12:00:45")))
    resumed = after(paused, resume(paused, NOTHING, at("13:30:10"), missed=ResumePolicy.CATCH_UP))
    assert resumed.progress.next_fire_at == at("12:01")
    first = plan(resumed, NOTHING, at("13:30:11"))
    assert (len(first.rows), first.progress.resume_to) == (50, at("13:30:10"))
    _, rows, _ = plan_until_done(after(resumed, first), NOTHING, at("13:31:10"))
    assert runs(rows)[-2:] == [("catch_up", "13:30"), ("schedule", "13:31")]


def test_a_pass_that_a_catch_up_fills_leaves_missed_instants_to_the_next() -> None:
    paused = after(schedule(), pause(schedule(), NOTHING, at("12:00:45")))
    resumed = after(paused, resume(paused, NOTHING, at("12:50:10"), missed=ResumePolicy.CATCH_UP))
    first = plan(resumed, NOTHING, at("14:00:30"))
    assert [trigger for trigger, _ in runs(first.rows)] == ["catch_up"] * 50
    second = plan(after(resumed, first), NOTHING, at("14:00:30"))
    assert runs(second.rows) == [("misfire", "13:59"), ("schedule", "14:00")]


def test_a_catch_up_after_a_pause_has_its_limits() -> None:
    limited = schedule(misfire=missing(MisfirePolicy.SKIP, max_runs=20))
    paused = after(limited, pause(limited, NOTHING, at("12:00:45")))
    resumed = after(paused, resume(paused, NOTHING, at("13:00:10"), missed=ResumePolicy.CATCH_UP))
    done, rows, _ = plan_until_done(resumed, NOTHING, at("13:00:20"))
    assert (len(rows), done.progress.state) == (20, ScheduleState.NEEDS_REVIEW)
    cleared = revalidate(done, at("13:05:10"))
    assert skips(cleared.rows) == [("review", "12:21", "13:05", 45)]
    assert (cleared.progress.resume_policy, cleared.progress.resume_to) == (None, None)


def test_a_catch_up_after_a_pause_is_refused_where_overlaps_are_skipped() -> None:
    busy = schedule(overlap=Overlap.SKIP)
    paused = after(busy, pause(busy, NOTHING, at("12:00:45")))
    with pytest.raises(InvalidInputError):
        resume(paused, NOTHING, at("13:00"), missed=ResumePolicy.CATCH_UP)


def test_resuming_what_is_not_paused_changes_nothing() -> None:
    active = schedule()
    assert resume(active, NOTHING, at("13:00")).progress == active.progress


def test_a_run_for_a_pause_obeys_the_overlap_rule() -> None:
    busy = schedule(overlap=Overlap.SKIP)
    paused = after(busy, pause(busy, NOTHING, at("12:00:45")))
    planned = resume(paused, Live(running=1), at("13:00:10"), missed=ResumePolicy.RUN_ONCE)
    assert skips(planned.rows) == [("overlap", "12:01", "13:00", 60)]


def test_a_pause_with_an_end_wakes_the_ticker_which_resumes_it_as_of_that_instant() -> None:
    planned = pause(schedule(), NOTHING, at("12:00:45"), until=at("13:00"))
    assert planned.progress.next_fire_at == at("13:00")
    paused = after(schedule(), planned)
    early = plan(paused, NOTHING, at("12:59:59"))
    assert (early.rows, early.progress.enabled) == ((), False)
    woken = plan(paused, NOTHING, at("13:00:01"))
    assert skips(woken.rows) == [("paused", "12:01", "12:59", 59)]
    assert runs(woken.rows) == [("schedule", "13:00")]
    assert (woken.progress.enabled, woken.progress.paused_until) == (True, None)
    late = plan(paused, NOTHING, at("15:00:30"))
    assert runs(late.rows) == [("misfire", "14:59"), ("schedule", "15:00")]


def test_a_pause_over_a_one_time_instant_is_decided_on_resuming() -> None:
    once = schedule("2026-11-30T13:00:00Z", expression_type=ExpressionType.ONE_TIME)
    paused = after(once, pause(once, NOTHING, at("12:30")))
    skipped = resume(paused, NOTHING, at("14:00"))
    assert skips(skipped.rows) == [("paused", "13:00", "13:00", 1)]
    assert skipped.progress.state is ScheduleState.FINISHED
    made = resume(paused, NOTHING, at("14:00"), missed=ResumePolicy.RUN_ONCE)
    assert runs(made.rows) == [("misfire", "13:00")]
    assert made.progress.state is ScheduleState.FINISHED


def test_a_schedule_created_disabled_is_paused_by_its_user() -> None:
    disabled = schedule(enabled=False)
    assert (disabled.progress.paused_by, disabled.progress.state) == (PausedBy.USER, ScheduleState.PAUSED)
    assert disabled.progress.next_fire_at is None


def test_pausing_again_takes_over_note_and_end() -> None:
    once = after(schedule(), pause(schedule(), NOTHING, at("12:00:45"), note="first", until=at("14:00")))
    twice = pause(once, NOTHING, at("13:00"), note="second")
    assert twice.rows == ()
    assert (twice.progress.pause_note, twice.progress.paused_until, twice.progress.next_fire_at) == (
        "second",
        None,
        None,
    )
    assert twice.progress.cursor_at == once.progress.cursor_at


def test_a_review_outlives_a_pause() -> None:
    stuck, _, _ = plan_until_done(
        schedule(misfire=missing(MisfirePolicy.CATCH_UP, max_runs=5)), NOTHING, at("20:00:30")
    )
    paused = after(stuck, pause(stuck, NOTHING, at("20:10"), until=at("21:00")))
    assert (paused.progress.state, paused.progress.next_fire_at) == (ScheduleState.NEEDS_REVIEW, None)
    resumed = after(paused, resume(paused, NOTHING, at("20:20")))
    assert (resumed.progress.state, resumed.progress.enabled) == (ScheduleState.NEEDS_REVIEW, True)
    assert skips(revalidate(resumed, at("20:30:10")).rows) == [("review", "12:06", "20:30", 505)]
    still_paused = revalidate(paused, at("20:30:10"))
    assert (still_paused.progress.state, still_paused.progress.next_fire_at) == (ScheduleState.PAUSED, at("21:00"))


class TestUnbinding:
    """An unbind pauses, and a new binding resumes only what an unbind paused (checklist 211-216)."""

    def test_an_enabled_schedule_is_paused_and_resumed(self) -> None:
        unbound = after(schedule(), unbind(schedule(), NOTHING, at("12:00:45")))
        assert (unbound.progress.enabled, unbound.progress.paused_by) == (False, PausedBy.UNBIND)
        bound = rebind(unbound, NOTHING, at("13:00:10"))
        assert skips(bound.rows) == [("paused", "12:01", "13:00", 60)]
        assert (bound.progress.enabled, bound.progress.paused_by) == (True, None)

    def test_what_its_owner_paused_stays_paused_and_loses_its_end(self) -> None:
        paused = after(schedule(), pause(schedule(), NOTHING, at("12:00:45"), until=at("13:00")))
        unbound = after(paused, unbind(paused, NOTHING, at("12:30")))
        assert (unbound.progress.paused_by, unbound.progress.paused_until) == (PausedBy.USER, None)
        assert unbound.progress.next_fire_at is None
        assert rebind(unbound, NOTHING, at("13:30")).progress == unbound.progress

    def test_a_user_takes_over_what_an_unbind_paused(self) -> None:
        unbound = after(schedule(), unbind(schedule(), NOTHING, at("12:00:45")))
        paused = after(unbound, pause(unbound, NOTHING, at("12:30")))
        assert not rebind(paused, NOTHING, at("13:30")).progress.enabled

    def test_the_end_of_a_job_or_call_is_the_end_of_planning(self) -> None:
        planned = end_of_parent(schedule())
        assert (planned.rows, planned.progress.next_fire_at) == ((), None)
        assert planned.progress.cursor_at == CREATED


class TestEditing:
    """An edit plans to now under the old definition and goes on from now under the new one."""

    def test_the_old_definition_ends_and_the_new_one_begins_now(self) -> None:
        planned = edit(schedule(), NOTHING, at("12:01:05"), Definition(expression="30 * * * *"))
        assert runs(planned.rows) == [("schedule", "12:01")]
        assert (planned.progress.cursor_at, planned.progress.next_fire_at) == (at("12:01:05"), at("12:30"))
        assert planned.progress.run_count == 1

    def test_nothing_fires_because_of_an_edit(self) -> None:
        planned = edit(schedule("0 13 * * *"), NOTHING, at("12:30"), Definition(expression="0 12 * * *"))
        assert planned.rows == ()
        assert planned.progress.next_fire_at == at("2026-12-01T12:00:00+00:00")

    def test_the_rest_of_a_catch_up_needs_no_review_but_is_recorded(self) -> None:
        planned = edit(schedule(misfire=_CATCH_UP), NOTHING, at("20:00:30"), Definition(expression="0 * * * *"))
        assert len(runs(planned.rows)) == 50
        assert skips(planned.rows) == [("review", "12:51", "20:00", 430)]
        assert planned.progress.state is ScheduleState.ACTIVE

    def test_an_edit_in_a_pause_records_the_pause_so_far_and_keeps_it(self) -> None:
        paused = after(schedule(), pause(schedule(), NOTHING, at("12:00:45"), note="why", until=at("14:00")))
        planned = edit(paused, NOTHING, at("13:00:10"), Definition(expression="30 * * * *"))
        assert skips(planned.rows) == [("paused", "12:01", "13:00", 60)]
        progress = planned.progress
        assert (progress.enabled, progress.pause_note, progress.next_fire_at) == (False, "why", at("14:00"))

    def test_a_review_outlives_an_edit(self) -> None:
        rules = missing(MisfirePolicy.CATCH_UP, max_runs=5)
        stuck, _, _ = plan_until_done(schedule(misfire=rules), NOTHING, at("20:00:30"))
        change = edit(stuck, NOTHING, at("20:10:30"), Definition(expression="0 * * * *"))
        assert skips(change.rows) == [("review", "12:06", "20:10", 485)]
        edited = after(stuck, change)
        assert (edited.progress.state, edited.progress.next_fire_at) == (ScheduleState.NEEDS_REVIEW, None)
        edited = replace(edited, definition=Definition(expression="0 * * * *"))
        planned = revalidate(edited, at("21:30"))
        assert skips(planned.rows) == [("review", "21:00", "21:00", 1)]

    def test_a_finished_schedule_is_active_again_when_there_is_a_run_to_come(self) -> None:
        once = schedule("2026-11-30T13:00:00Z", expression_type=ExpressionType.ONE_TIME)
        done = after(once, plan(once, NOTHING, at("13:00:01")))
        later = replace(once.definition, expression="2026-11-30T15:00:00Z")
        planned = edit(done, NOTHING, at("14:00"), later)
        assert (planned.progress.state, planned.progress.next_fire_at) == (ScheduleState.ACTIVE, at("15:00"))
        past = edit(done, NOTHING, at("14:00"), replace(once.definition, expression="2026-11-30T13:30:00Z"))
        assert (past.rows, past.progress.state) == ((), ScheduleState.FINISHED)

    def test_a_limit_below_the_runs_so_far_finishes_it(self) -> None:
        ran = after(schedule(), plan(schedule(), NOTHING, at("12:01:01")))
        planned = edit(ran, NOTHING, at("12:01:30"), replace(ran.definition, max_runs=1))
        assert planned.progress.state is ScheduleState.FINISHED

    def test_an_expression_that_cannot_be_read_is_refused(self) -> None:
        with pytest.raises(InvalidInputError):
            edit(schedule(), NOTHING, at("12:01:05"), Definition(expression="61 * * * *"))

    def test_an_edit_mends_an_expression_that_can_no_longer_be_read(self) -> None:
        broken = replace(schedule(), definition=Definition(expression="0 2 * * *", time_zone="Mars/Base"))
        planned = edit(broken, NOTHING, at("13:00"), Definition(expression="0 * * * *"))
        assert (planned.rows, planned.progress.next_fire_at) == ((), at("14:00"))
        assert not pause(broken, NOTHING, at("13:00")).progress.enabled

    def test_the_anchor_of_a_fixed_rate_stays_while_its_interval_does(self) -> None:
        rate = schedule("PT5M", expression_type=ExpressionType.FIXED_RATE).definition
        kept = anchored(replace(rate, anchor_at=None, overlap=Overlap.ALLOW), now=at("13:00"), previous=rate)
        moved = anchored(replace(rate, expression="PT6M"), now=at("13:00"), previous=rate)
        assert (kept.anchor_at, moved.anchor_at) == (CREATED, at("13:00"))


def test_a_newer_zone_database_moves_the_wake_time_only() -> None:
    stale = replace(schedule().progress, next_fire_at=at("19:00"))
    progress = replan_next_fire(replace(schedule(), progress=stale))
    assert progress == schedule().progress
    paused = after(schedule(), pause(schedule(), NOTHING, CREATED + timedelta(seconds=1), until=at("14:00")))
    assert replan_next_fire(paused) == paused.progress


def test_a_paused_catch_up_is_recorded_when_paused_again() -> None:
    paused = after(schedule(), pause(schedule(), NOTHING, at("12:00:45")))
    resumed = after(paused, resume(paused, NOTHING, at("15:00:10"), missed=ResumePolicy.CATCH_UP))
    again = pause(resumed, NOTHING, at("15:00:11"))
    assert len(runs(again.rows)) == 50
    assert skips(again.rows) == [("paused", "12:51", "15:00", 130)]
    assert (again.progress.resume_policy, again.progress.resume_to) == (None, None)
    assert again.progress.cursor_at - at("15:00:11") < MINUTE

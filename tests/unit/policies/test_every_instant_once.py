"""Whatever the order of ticks, pauses, edits, outages and endings: each due instant is in exactly one row's record."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scheduler.domain.planning import Live, Plan
from scheduler.domain.schedules import Definition, Misfire, Schedule
from scheduler.domain.states import (
    ExecutionState,
    ExpressionType,
    MisfirePolicy,
    OnFold,
    OnGap,
    Overlap,
    PausedBy,
    Reason,
    RefType,
    ResumePolicy,
    ScheduleState,
    Trigger,
)
from scheduler.policies import (
    MAX_ROWS,
    anchored,
    create_progress,
    edit,
    pause,
    plan,
    rebind,
    resume,
    revalidate,
    state_of_triggered,
    unbind,
)
from scheduler.timetable import compile_timetable
from tests.unit.policies.book import Book, Era
from tests.unit.policies.making import CREATED, at

# Near the end of October, so that outages run over the night in which clocks go back.
_START = at("2026-10-24T20:00:30+00:00")


def _misfires() -> st.SearchStrategy[Misfire]:
    return st.builds(
        Misfire,
        policy=st.sampled_from(MisfirePolicy),
        grace_seconds=st.sampled_from([0, 60, 600, 86_400]),
        max_runs=st.sampled_from([1, 7, 60, 1_000]),
        max_age_seconds=st.sampled_from([60, 3_600, 7 * 86_400]),
    )


def _definitions(now: datetime) -> st.SearchStrategy[Definition]:
    expressions = st.sampled_from(
        [
            ("* * * * *", ExpressionType.CRON),
            ("*/7 * * * *", ExpressionType.CRON),
            ("*/20 1-2 * * *", ExpressionType.CRON),
            ("30 1 * * *", ExpressionType.CRON),
            ("15 0,12 * * *", ExpressionType.CRON),
            ("@every 11m", ExpressionType.CRON),
            ("PT3M", ExpressionType.FIXED_RATE),
            ((now - timedelta(hours=3)).isoformat(), ExpressionType.ONE_TIME),
            ((now + timedelta(minutes=30)).isoformat(), ExpressionType.ONE_TIME),
        ]
    )
    instants = st.one_of(st.none(), st.integers(-60, 600).map(lambda minutes: now + timedelta(minutes=minutes)))
    return st.builds(
        _definition,
        expressions,
        time_zone=st.sampled_from([None, "Europe/London", "Australia/Lord_Howe"]),
        on_gap=st.sampled_from(OnGap),
        on_fold=st.sampled_from(OnFold),
        misfire=_misfires(),
        overlap=st.sampled_from(Overlap),
        start_time=instants,
        end_time=instants,
        max_runs=st.sampled_from([None, None, 1, 40]),
    )


def _definition(expression: tuple[str, ExpressionType], **rest: Any) -> Definition:
    if rest["misfire"].policy is MisfirePolicy.CATCH_UP and rest["overlap"] is Overlap.SKIP:
        rest["overlap"] = Overlap.SERIALIZE
    return Definition(expression=expression[0], expression_type=expression[1], **rest)


class ScheduleLife(RuleBasedStateMachine):
    """A schedule, a clock, and a book of what must be true."""

    @initialize(data=st.data(), enabled=st.sampled_from([True, True, False]))
    def create(self, data: st.DataObject, enabled: bool) -> None:  # noqa: FBT001 - hypothesis passes keywords
        self.now = _START
        self.data = data
        self.book = Book()
        wanted = anchored(data.draw(_definitions(self.now)), now=self.now)
        progress = create_progress(wanted, now=self.now, hash_key="", enabled=enabled)
        self.schedule = Schedule(
            guid=UUID(int=2),
            ref_type=RefType.CALL,
            ref_guid=UUID(int=1),
            space_guid="space",
            definition=wanted,
            progress=progress,
            created_at=self.now,
            updated_at=CREATED,
        )
        self.book.eras.append(Era(wanted, progress.cursor_at))

    @rule(seconds=st.one_of(st.integers(0, 90), st.integers(0, 1_800)))
    def tick(self, seconds: int) -> None:
        self._pass_time(seconds)
        due = self.schedule.progress.next_fire_at
        if due is not None and due <= self.now:
            self._tick()

    @rule(seconds=st.integers(600, 40_000))
    def be_away(self, seconds: int) -> None:
        self._pass_time(seconds)

    @rule(passes=st.integers(1, 12))
    def tick_on(self, passes: int) -> None:
        for _ in range(passes):
            self._tick()

    @rule(number=st.integers(1, 60))
    def start_runs(self, number: int) -> None:
        self.book.move(ExecutionState.PENDING, ExecutionState.RUNNING, number)

    @rule(number=st.integers(1, 60))
    def end_runs(self, number: int) -> None:
        self.book.move(ExecutionState.RUNNING, ExecutionState.SUCCEEDED, number)

    @rule()
    def trigger(self) -> None:
        self.book.write_triggered(state_of_triggered(self.schedule.definition.overlap, self.book.live()))

    @rule(minutes=st.one_of(st.none(), st.integers(1, 300)))
    def pause(self, minutes: int | None) -> None:
        until = self.now + timedelta(minutes=minutes) if minutes else None
        self._write(pause(self.schedule, self.book.live(), self.now, until=until))

    @precondition(lambda self: not self.schedule.progress.enabled)
    @rule(missed=st.sampled_from(ResumePolicy))
    def resume(self, missed: ResumePolicy) -> None:
        if missed is ResumePolicy.CATCH_UP and self.schedule.definition.overlap is Overlap.SKIP:
            missed = ResumePolicy.RUN_ONCE
        self._write(resume(self.schedule, self.book.live(), self.now, missed=missed))

    @rule()
    def unbind(self) -> None:
        self._write(unbind(self.schedule, self.book.live(), self.now))

    @precondition(lambda self: self.schedule.progress.paused_by is PausedBy.UNBIND)
    @rule()
    def rebind(self) -> None:
        self._write(rebind(self.schedule, self.book.live(), self.now))

    @precondition(lambda self: self.schedule.progress.state is ScheduleState.NEEDS_REVIEW)
    @rule()
    def revalidate(self) -> None:
        self._write(revalidate(self.schedule, self.now))

    @rule()
    def edit(self) -> None:
        before = self.schedule.progress.state is ScheduleState.FINISHED
        wanted = anchored(self.data.draw(_definitions(self.now)), now=self.now, previous=self.schedule.definition)
        planned = edit(self.schedule, self.book.live(), self.now, wanted)
        last = self.book.eras[-1]
        last.end = self._end_of(last, finished=before, planned=planned)
        self._write(planned)
        self.schedule = replace(self.schedule, definition=wanted)
        self.book.eras.append(Era(wanted, self.now))

    @invariant()
    def every_due_instant_is_in_exactly_one_row(self) -> None:
        if hasattr(self, "schedule"):
            self.book.check(self.schedule.progress.cursor_at)

    @invariant()
    def the_counts_are_those_of_the_rows(self) -> None:
        if not hasattr(self, "schedule"):
            return
        planned = [row.planned for row in self.book.rows if row.planned is not None]
        skipped = [row.covers_count or 0 for row in planned if row.state is ExecutionState.SKIPPED]
        progress = self.schedule.progress
        assert progress.skipped_count == sum(skipped)
        assert progress.run_count == len(planned) - len(skipped)

    @invariant()
    def the_wake_time_follows_from_the_state(self) -> None:
        if not hasattr(self, "schedule"):
            return
        progress = self.schedule.progress
        assert progress.cursor_at <= self.now
        if progress.state in {ScheduleState.FINISHED, ScheduleState.NEEDS_REVIEW}:
            assert progress.next_fire_at is None
        elif not progress.enabled:
            assert (progress.state, progress.next_fire_at) == (ScheduleState.PAUSED, progress.paused_until)
        else:
            assert progress.state is ScheduleState.ACTIVE
            assert progress.next_fire_at is not None
            following = compile_timetable(self.schedule.definition, hash_key="").next_after(progress.cursor_at)
            assert progress.next_fire_at == following or following <= progress.next_fire_at <= self.now  # type: ignore[operator]

    def teardown(self) -> None:
        """Bring the schedule to rest and look at everything once more."""
        if not hasattr(self, "schedule"):
            return
        progress = self.schedule.progress
        if not progress.enabled:
            self._write(resume(self.schedule, self.book.live(), self.now))
        for _ in range(2_000):
            if self.schedule.progress.state is ScheduleState.NEEDS_REVIEW:
                self._write(revalidate(self.schedule, self.now))
            if self.schedule.progress.cursor_at >= self.now or self.schedule.progress.state is ScheduleState.FINISHED:
                break
            self._tick()
        self.every_due_instant_is_in_exactly_one_row()
        assert self.schedule.progress.state is ScheduleState.FINISHED or self.schedule.progress.cursor_at == self.now

    def _pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds, microseconds=137_000)

    def _tick(self) -> None:
        live = self.book.live()
        planned = plan(self.schedule, live, self.now)
        assert len(planned.rows) <= MAX_ROWS
        self._check_rules(planned, live)
        self._write(planned)

    def _write(self, planned: Plan) -> None:
        for row in planned.rows:
            self.book.write(row)
        self.schedule = replace(self.schedule, progress=planned.progress)

    def _end_of(self, era: Era, *, finished: bool, planned: Plan) -> datetime:
        """Return where the due instants of an era end: a schedule that has had its last run has none any more."""
        if finished:
            return min(self.schedule.progress.cursor_at, self.now)
        limit = era.definition.max_runs
        if limit is not None and planned.progress.run_count >= limit and planned.progress.last_fire_at is not None:
            return planned.progress.last_fire_at
        return self.now

    def _check_rules(self, planned: Plan, live: Live) -> None:
        """Check what each single row may be, in the words of the rules."""
        definition = self.schedule.definition
        pending, running = live.pending, live.running
        grace = timedelta(seconds=definition.misfire.grace_seconds)
        one_time = definition.expression_type is ExpressionType.ONE_TIME
        previous = self.schedule.progress.cursor_at
        for row in planned.rows:
            late = self.now - row.scheduled_time
            assert row.scheduled_time > previous
            previous = row.scheduled_time
            if row.reason is Reason.MISFIRE:
                assert late > grace
            if row.state is ExecutionState.SKIPPED:
                continue
            if row.trigger is Trigger.CATCH_UP:
                assert late <= timedelta(seconds=definition.misfire.max_age_seconds)
            else:
                assert one_time or (row.trigger is Trigger.MISFIRE) == (late > grace)
            if definition.overlap is Overlap.SKIP:
                assert (pending, running) == (0, 0)
            if definition.overlap is Overlap.WAIT:
                assert pending == 0 or (running == 0 and pending == 1)
            pending += 1
        assert planned.progress.episode_count <= definition.misfire.max_runs


TestScheduleLife = ScheduleLife.TestCase
TestScheduleLife.settings = settings(max_examples=120, stateful_step_count=25, deadline=None)

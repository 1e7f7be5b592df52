"""Claim, perform, finish and drain, with work that does what the test says."""

import threading
import time
from uuid import UUID

import pytest

from scheduler.domain.calls import Call
from scheduler.domain.claims import Claimed, Finish, Outcome
from scheduler.domain.guids import new_guid
from scheduler.domain.states import ExecutionState
from scheduler.running.runner import MayStart
from scheduler.testing.factories import make_call
from tests.fixtures.session import wait_until
from tests.integration.running.conftest import SUCCEEDED, RunnerInHand


@pytest.fixture
def call(in_hand: RunnerInHand) -> Call:
    stored = make_call()
    in_hand.rows.add(stored)
    return stored


def _executions(in_hand: RunnerInHand, call: Call, count: int) -> list[UUID]:
    return [in_hand.rows.execution(call) for _ in range(count)]


def _released_by(event: threading.Event, outcome: Outcome = SUCCEEDED) -> object:
    def behave(_claimed: Claimed, _may_start: MayStart) -> Outcome:
        event.wait(20)
        return outcome

    return behave


def _six_that_are_held_up(in_hand: RunnerInHand, call: Call) -> tuple[list[UUID], threading.Event]:
    release = threading.Event()
    in_hand.performer.behave = _released_by(release)  # type: ignore[assignment]
    return _executions(in_hand, call, 6), release


def test_what_is_delivered_is_claimed_performed_and_written(in_hand: RunnerInHand, call: Call) -> None:
    guids = _executions(in_hand, call, 5)
    in_hand.consumer.deliver(*guids)
    in_hand.start()
    for guid in guids:
        in_hand.await_state(guid, "SUCCEEDED")
    in_hand.drain()
    assert sorted(in_hand.performer.performed) == sorted(guids)
    assert sorted(in_hand.consumer.acknowledged) == sorted(guids)


def test_no_more_is_claimed_than_there_are_threads(in_hand: RunnerInHand, call: Call) -> None:  # checklist 168
    guids, release = _six_that_are_held_up(in_hand, call)
    in_hand.consumer.deliver(*guids)
    in_hand.start()
    wait_until(lambda: len(in_hand.performer.performed) == 2, within=10, what="both threads work")
    states = [in_hand.state(guid) for guid in guids]
    assert states.count("RUNNING") == 2
    assert states.count("PENDING") == 4
    assert in_hand.consumer.acknowledged == []
    release.set()
    for guid in guids:
        in_hand.await_state(guid, "SUCCEEDED")


def test_while_runs_are_short_more_is_claimed_than_there_are_threads(in_hand: RunnerInHand, call: Call) -> None:
    guids, release = _six_that_are_held_up(in_hand, call)
    in_hand.pace.said = True
    in_hand.start()
    wait_until(lambda: "40 ahead" in in_hand.consumer.wishes, within=10, what="the queue is asked for more")
    in_hand.consumer.deliver(*guids)
    for guid in guids:
        in_hand.await_state(guid, "RUNNING")
    assert len(in_hand.performer.performed) <= 2, "no more at once than there are threads"
    release.set()
    for guid in guids:
        in_hand.await_state(guid, "SUCCEEDED")
    assert sorted(in_hand.performer.performed) == sorted(guids)


def test_what_no_thread_has_begun_is_given_back_once_runs_are_long(in_hand: RunnerInHand, call: Call) -> None:
    guids, release = _six_that_are_held_up(in_hand, call)
    in_hand.pace.said = True
    in_hand.start()
    in_hand.consumer.deliver(*guids)
    for guid in guids:
        in_hand.await_state(guid, "RUNNING")
    in_hand.pace.said = False
    wait_until(lambda: len(in_hand.consumer.acknowledged) == 4, within=10, what="four are let go")
    unbegun = set(guids) - set(in_hand.performer.performed)
    assert set(in_hand.consumer.acknowledged) == unbegun
    for guid in unbegun:
        in_hand.await_state(guid, "PENDING")
        row = in_hand.rows.read(guid)
        assert (row.attempt, row.queued_at, row.claim_token) == (0, None, None), "as if it had never been claimed"
    assert in_hand.consumer.wishes == ["40 ahead", "0 ahead"]
    release.set()
    for guid in set(guids) - unbegun:
        in_hand.await_state(guid, "SUCCEEDED")


def test_a_message_that_comes_again_performs_nothing_again(in_hand: RunnerInHand, call: Call) -> None:  # checklist 178
    (guid,) = _executions(in_hand, call, 1)
    in_hand.consumer.deliver(guid, guid)
    in_hand.start()
    in_hand.await_state(guid, "SUCCEEDED")
    in_hand.consumer.deliver(guid)
    wait_until(lambda: len(in_hand.consumer.acknowledged) == 3, within=10, what="all messages are settled")
    assert in_hand.performer.performed == [guid]


def test_a_message_about_nothing_is_settled(in_hand: RunnerInHand) -> None:
    in_hand.start()
    in_hand.consumer.deliver(new_guid())
    wait_until(lambda: len(in_hand.consumer.acknowledged) == 1, within=10, what="the message is settled")
    assert in_hand.performer.performed == []


def test_work_that_fails_by_a_fault_of_ours_does_not_take_the_runner_with_it(
    in_hand: RunnerInHand, call: Call, caplog: pytest.LogCaptureFixture
) -> None:
    def behave(claimed: Claimed, _may_start: MayStart) -> Outcome:
        if claimed.guid == broken:
            raise ZeroDivisionError
        return SUCCEEDED

    in_hand.performer.behave = behave
    broken, fine = _executions(in_hand, call, 2)
    in_hand.consumer.deliver(broken, fine)
    in_hand.start()
    in_hand.await_state(fine, "SUCCEEDED")
    in_hand.await_state(broken, "PENDING")  # what this performer says about faults
    assert str(broken) in caplog.text or "could not be performed" in caplog.text


def test_claims_of_an_older_generation_are_given_back_unsent(in_hand: RunnerInHand, call: Call) -> None:
    (guid,) = _executions(in_hand, call, 1)
    claim = in_hand.runner.claimer.claim

    def claim_and_stall(deliveries: object) -> object:
        claims = claim(deliveries)  # type: ignore[arg-type]
        in_hand.liveness.generation = new_guid()
        return claims

    in_hand.runner.claimer.claim = claim_and_stall  # type: ignore[method-assign,assignment]
    in_hand.consumer.deliver(guid)
    in_hand.start()
    in_hand.await_state(guid, "PENDING")
    assert in_hand.performer.performed == []
    assert in_hand.rows.read(guid).attempt == 0


def test_the_generation_of_work_under_way_is_known_until_it_ends(in_hand: RunnerInHand, call: Call) -> None:
    release = threading.Event()
    in_hand.performer.behave = _released_by(release)  # type: ignore[assignment]
    (guid,) = _executions(in_hand, call, 1)
    in_hand.consumer.deliver(guid)
    in_hand.start()
    wait_until(lambda: in_hand.performer.performed, within=10, what="the work is under way")
    assert set(in_hand.liveness.under_way()) == {in_hand.liveness.generation}
    release.set()
    in_hand.await_state(guid, "SUCCEEDED")
    assert set(in_hand.liveness.under_way()) == set()


def test_an_attempt_given_up_as_lost_does_not_disturb_the_next_one_in_the_same_process(
    in_hand: RunnerInHand, call: Call
) -> None:
    lost, again = threading.Event(), threading.Event()

    def behave(claimed: Claimed, _may_start: MayStart) -> Outcome:
        (lost if claimed.attempt == 1 else again).wait(20)
        return Finish(state=ExecutionState.SUCCEEDED, message=f"attempt {claimed.attempt}")

    in_hand.performer.behave = behave
    (guid,) = _executions(in_hand, call, 1)
    in_hand.consumer.deliver(guid)
    in_hand.start()
    wait_until(lambda: len(in_hand.performer.performed) == 1, within=10, what="the first attempt is under way")
    in_hand.rows.run("UPDATE executions SET state = 'PENDING', claim_token = NULL")  # as the rescue does
    in_hand.consumer.deliver(guid)
    wait_until(lambda: len(in_hand.performer.performed) == 2, within=10, what="the second attempt is under way")
    lost.set()
    wait_until(lambda: len(in_hand.consumer.acknowledged) == 1, within=10, what="the first attempt has ended")
    again.set()
    in_hand.await_state(guid, "SUCCEEDED")
    assert in_hand.rows.read(guid).message == "attempt 2"


class TestDraining:
    """SIGTERM."""

    def test_work_that_ends_within_the_grace_is_written(self, in_hand: RunnerInHand, call: Call) -> None:
        release = threading.Event()
        in_hand.performer.behave = _released_by(release)  # type: ignore[assignment]
        (guid,) = _executions(in_hand, call, 1)
        in_hand.consumer.deliver(guid)
        in_hand.start()
        wait_until(lambda: in_hand.performer.performed, within=10, what="the work is under way")
        threading.Timer(0.3, release.set).start()
        in_hand.drain(grace_seconds=10)
        in_hand.await_state(guid, "SUCCEEDED")

    def test_work_that_does_not_end_is_said_to_be_interrupted(self, in_hand: RunnerInHand, call: Call) -> None:
        release = threading.Event()
        in_hand.performer.behave = _released_by(release)  # type: ignore[assignment]
        (guid,) = _executions(in_hand, call, 1)
        in_hand.consumer.deliver(guid)
        in_hand.start()
        wait_until(lambda: in_hand.performer.performed, within=10, what="the work is under way")
        begun = time.monotonic()
        in_hand.drain(grace_seconds=0.5)
        assert time.monotonic() - begun < 3
        in_hand.await_state(guid, "FAILED")
        assert in_hand.rows.read(guid).reason == "interrupted"
        release.set()

    def test_an_outcome_that_comes_after_the_drain_gave_up_is_not_written_twice(
        self, in_hand: RunnerInHand, call: Call
    ) -> None:
        release = threading.Event()
        in_hand.performer.behave = _released_by(release)  # type: ignore[assignment]
        (guid,) = _executions(in_hand, call, 1)
        in_hand.consumer.deliver(guid)
        in_hand.start()
        wait_until(lambda: in_hand.performer.performed, within=10, what="the work is under way")
        in_hand.stop.set()
        in_hand.runner.drain(0.2)
        in_hand.await_state(guid, "FAILED")
        release.set()
        wait_until(lambda: in_hand.consumer.acknowledged == [guid], within=10, what="the thread is done")
        in_hand.written.set()
        assert in_hand.state(guid) == "FAILED"

    def test_nothing_new_is_started(self, in_hand: RunnerInHand, call: Call) -> None:  # checklist 308
        release = threading.Event()
        in_hand.performer.behave = _released_by(release)  # type: ignore[assignment]
        guids = _executions(in_hand, call, 6)
        in_hand.start()
        in_hand.consumer.deliver(*guids)
        wait_until(lambda: len(in_hand.performer.performed) == 2, within=10, what="both threads work")
        threading.Timer(0.2, release.set).start()
        in_hand.drain(grace_seconds=10)
        states = sorted(in_hand.state(guid) for guid in guids)
        wait_until(
            lambda: sorted(in_hand.state(guid) for guid in guids) == ["PENDING"] * 4 + ["SUCCEEDED"] * 2,
            within=10,
            what=f"two have ended, four wait ({states})",
        )
        assert "pause" in in_hand.consumer.wishes

    def test_what_was_claimed_but_not_begun_is_given_back(self, in_hand: RunnerInHand, call: Call) -> None:
        (guid,) = _executions(in_hand, call, 1)
        claim = in_hand.runner.claimer.claim

        def claim_while_stopping(deliveries: object) -> object:
            claims = claim(deliveries)  # type: ignore[arg-type]
            in_hand.stop.set()
            return claims

        in_hand.runner.claimer.claim = claim_while_stopping  # type: ignore[method-assign,assignment]
        in_hand.start()
        in_hand.consumer.deliver(guid)
        in_hand.stop.wait(10)
        in_hand.drain()
        in_hand.await_state(guid, "PENDING")
        assert in_hand.performer.performed == []


class TestWritingOutcomes:
    """A run that was made is never forgotten."""

    def test_outcomes_are_written_when_the_database_is_back(self, in_hand: RunnerInHand, call: Call) -> None:
        (guid,) = _executions(in_hand, call, 1)

        def behave(_claimed: Claimed, _may_start: MayStart) -> Outcome:
            in_hand.rows.run("ALTER TABLE executions RENAME TO hidden")
            return SUCCEEDED

        in_hand.performer.behave = behave
        in_hand.consumer.deliver(guid)
        in_hand.start()
        wait_until(lambda: in_hand.consumer.acknowledged == [guid], within=10, what="the work is done")
        in_hand.rows.run("ALTER TABLE hidden RENAME TO executions")
        in_hand.await_state(guid, "SUCCEEDED")

    def test_one_outcome_that_cannot_be_stored_does_not_hold_up_the_others(
        self, in_hand: RunnerInHand, call: Call
    ) -> None:
        monstrous = Finish(state=ExecutionState.SUCCEEDED, message="fine", http_status=2**40)
        bad, good = _executions(in_hand, call, 2)
        in_hand.performer.behave = lambda claimed, _may_start: monstrous if claimed.guid == bad else SUCCEEDED
        in_hand.consumer.deliver(bad, good)
        in_hand.start()
        in_hand.await_state(good, "SUCCEEDED")
        in_hand.await_state(bad, "SUCCEEDED")
        assert in_hand.rows.read(bad).http_status is None

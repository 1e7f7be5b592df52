"""What a runner holds: as much as it has threads, more while runs are short, and never room without need."""

import threading

from scheduler.running.hand import AHEAD, AHEAD_SECONDS, GATHER_SECONDS, LOOK_SECONDS, Hand, Pace
from tests.fixtures.session import wait_until

FAST = AHEAD / AHEAD_SECONDS  # runs per second


def test_runs_are_fast_when_what_is_held_ahead_would_begin_in_time() -> None:
    pace = Pace(0)
    assert not pace.look(int(FAST) - 1, 1)
    assert pace.look(2 * int(FAST) - 1, 2)


def test_runs_stay_fast_until_they_are_half_as_fast() -> None:
    pace = Pace(0)
    assert pace.look(int(FAST), 1)
    assert pace.look(int(FAST * 1.5), 2)
    assert not pace.look(int(FAST * 2) - 1, 3)


def test_between_two_looks_nothing_is_judged() -> None:
    pace = Pace(0)
    assert not pace.look(10 * int(FAST), LOOK_SECONDS / 2)
    assert pace.look(10 * int(FAST), LOOK_SECONDS)


def test_a_runner_that_stands_still_is_not_fast() -> None:
    pace = Pace(0)
    assert pace.look(int(FAST), 1)
    assert not pace.look(int(FAST), 1 + LOOK_SECONDS)


def test_there_is_room_for_as_many_as_there_are_threads() -> None:
    hand = Hand(3)
    assert hand.await_room(0) == 3
    hand.take(3)
    assert hand.await_room(0.01) == 0
    hand.release()
    assert (hand.await_room(0), hand.ended) == (1, 1)


def test_claiming_ahead_makes_more_room_and_its_end_leaves_a_surplus() -> None:
    hand = Hand(3)
    hand.claim_ahead(2)
    assert hand.await_room(0) == 5
    hand.take(5)
    hand.claim_ahead(0)
    assert hand.surplus() == 2
    assert hand.await_room(0.01) == 0


def test_whoever_waits_for_room_is_woken_and_gets_more_than_the_first_bit() -> None:
    hand = Hand(8)
    hand.take(8)
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(hand.await_room(60)))
    waiting.start()
    wait_until(lambda: hand._wanted == 1, within=10, what="it waits")
    for _ in range(8):
        hand.release()
    waiting.join(60 - GATHER_SECONDS)
    assert 1 <= found[0] <= 8
    assert hand.await_room(0) == 8

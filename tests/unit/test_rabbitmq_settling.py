"""The fewest acknowledgements that settle what is done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.queue.rabbitmq.deliveries import Unsettled


def unsettled(*tags: int) -> Unsettled:
    deliveries = Unsettled()
    for tag in tags:
        deliveries.add(tag)
    return deliveries


@pytest.mark.parametrize(
    ("done", "acknowledgements"),
    [
        pytest.param(set(), [], id="nothing"),
        pytest.param({1, 2, 3, 4, 5}, [(5, True)], id="all"),
        pytest.param({1, 2, 3}, [(3, True)], id="the oldest"),
        pytest.param({2, 4}, [(2, False), (4, False)], id="not the oldest"),
        pytest.param({1, 2, 4}, [(2, True), (4, False)], id="some of each"),
        pytest.param({9}, [], id="unknown"),
    ],
)
def test_one_acknowledgement_covers_what_is_done_from_the_oldest_on(
    done: set[int], acknowledgements: list[tuple[int, bool]]
) -> None:
    assert unsettled(1, 2, 3, 4, 5).settle(done) == acknowledgements


def test_what_is_settled_is_not_settled_again() -> None:
    deliveries = unsettled(1, 2, 3)
    assert deliveries.remove([2, 7]) == [2]
    assert deliveries.settle({1, 2}) == [(1, True)]
    assert deliveries.settle({1, 2}) == []
    assert deliveries.settle({3}) == [(3, True)]


@given(st.lists(st.sets(st.integers(1, 30)), max_size=10))
def test_acknowledgements_settle_exactly_what_is_done(rounds: list[set[int]]) -> None:
    deliveries, pending = unsettled(*range(1, 31)), set(range(1, 31))
    for done in rounds:
        settled = set()
        for tag, multiple in deliveries.settle(set(done)):
            settled |= {each for each in pending if each <= tag} if multiple else {tag}
        assert settled == done & pending
        pending -= settled

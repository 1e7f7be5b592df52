"""The queue holds what the runners take within half a second, and at most what the operator allows."""

from scheduler_ticker.window import LOOK_SECONDS, SECONDS, Window


def _window(most: int = 2_000, *, depth: int = 0) -> Window:
    """Return a window of which one look was taken, at 0 seconds."""
    window = Window(most)
    window.room(depth, 0)
    return window


def test_at_first_there_is_room_for_as_much_as_is_allowed() -> None:
    assert Window(2_000).room(0, 0) == 2_000
    assert Window(2_000).room(500, 0) == 1_500


def test_it_becomes_what_the_runners_take_within_its_seconds() -> None:
    window = _window()
    window.note(1_000)
    taken = 800  # of the 1,000 within the second
    assert window.room(200, 1) == round(taken * SECONDS) - 200


def test_runners_that_take_little_are_given_little() -> None:
    window = _window(depth=1_000)
    assert window.room(990, 1) == 0
    window.note(0)
    assert window.room(50, 2) == round(940 * SECONDS) - 50


def test_nothing_is_learned_from_runners_that_are_not_there() -> None:
    window = _window(depth=500)
    assert window.room(500, 1) == 1_500
    window.note(1_500)
    assert window.room(1_999, 2) == 0
    assert window.room(1_500, 3) == 0, "they are back"
    assert window.room(0, 3.01) == round(499 * SECONDS)


def test_an_empty_queue_makes_it_larger_each_time_up_to_what_is_allowed() -> None:
    window = _window(300, depth=500)
    window.room(499, 1)
    assert [window.room(0, second) for second in (2, 3, 4)] == [200, 300, 300]


def test_room_that_is_not_worth_a_transaction_is_none() -> None:
    window = _window()
    assert window.room(1_501, LOOK_SECONDS / 2) == 0
    assert window.room(1_500, LOOK_SECONDS / 2) == 500


def test_it_is_judged_no_more_often_than_it_can_be_told() -> None:
    window = _window()
    window.note(100)
    assert window.room(99, LOOK_SECONDS / 2) == 1_901


def test_what_another_ticker_publishes_tells_nothing() -> None:
    window = _window(depth=0)
    assert window.room(90, 1) == 1_910

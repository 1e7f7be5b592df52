"""Which failures are tried again, and when."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from scheduler.domain.calls import Retry
from scheduler.domain.claims import Claimed, Finish, TryAgain
from scheduler.domain.states import ExecutionState, Reason
from scheduler.testing.factories import make_claimed
from scheduler_call_runner.retrying import JITTER, Failure, settle

NOW = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
THREE = Retry(max_attempts=3, backoff_seconds=2, max_backoff_seconds=10)


def _claimed(attempt: int = 1, *, age_seconds: float = 0) -> Claimed:
    return make_claimed(attempt=attempt, first_started_at=NOW - timedelta(seconds=age_seconds))


def _answered(status: int, retry_after: str | None = None) -> Failure:
    message = f"the endpoint answered {status}"
    return Failure(reason=Reason.HTTP_STATUS, message=message, http_status=status, retry_after=retry_after)


def _delay(failure: Failure, claimed: Claimed, retry: Retry = THREE) -> float:
    outcome = settle(failure, claimed, retry, now=NOW)
    assert isinstance(outcome, TryAgain)
    return outcome.delay_seconds


def test_without_a_wish_there_is_one_attempt() -> None:
    outcome = settle(_answered(503), _claimed(), Retry(), now=NOW)
    assert isinstance(outcome, Finish)
    assert (outcome.state, outcome.reason, outcome.http_status) == (
        ExecutionState.FAILED, Reason.HTTP_STATUS, 503,
    )  # fmt: skip


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_passing_statuses_are_tried_again_by_default(status: int) -> None:
    outcome = settle(_answered(status), _claimed(), THREE, now=NOW)
    assert isinstance(outcome, TryAgain)
    assert (outcome.reason, outcome.message, outcome.http_status) == (
        Reason.HTTP_STATUS, f"the endpoint answered {status}", status,
    )  # fmt: skip


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_other_statuses_are_final_unless_they_are_named(status: int) -> None:
    assert isinstance(settle(_answered(status), _claimed(), THREE, now=NOW), Finish)
    named = Retry(max_attempts=3, retry_on=(f"{status // 100}xx",))
    assert isinstance(settle(_answered(status), _claimed(), named, now=NOW), TryAgain)


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (Reason.CONNECT_ERROR, "connect_error"),
        (Reason.TIMEOUT, "timeout"),
        (Reason.INTERRUPTED, "runner_lost"),
    ],
)
def test_a_failure_without_an_answer_is_tried_again_where_its_word_is_named(reason: Reason, word: str) -> None:
    failure = Failure(reason=reason, message="…")
    asked = Retry(max_attempts=2, retry_on=(word,))
    silent = Retry(max_attempts=2, retry_on=("503",))
    assert isinstance(settle(failure, _claimed(), asked, now=NOW), TryAgain)
    assert isinstance(settle(failure, _claimed(), silent, now=NOW), Finish)


def test_by_default_only_failures_that_surely_passed_nothing_on_are_tried_again() -> None:
    for reason in (Reason.TIMEOUT, Reason.INTERRUPTED, Reason.DENIED, Reason.BAD_REQUEST, Reason.TOO_MANY_REDIRECTS):
        assert isinstance(settle(Failure(reason=reason, message="…"), _claimed(), THREE, now=NOW), Finish)


def test_the_last_attempt_is_final() -> None:
    assert isinstance(settle(_answered(503), _claimed(2), THREE, now=NOW), TryAgain)
    assert isinstance(settle(_answered(503), _claimed(3), THREE, now=NOW), Finish)


@pytest.mark.parametrize(("attempt", "least"), [(1, 2), (2, 4), (3, 8), (4, 10), (500, 10)])
def test_the_wait_doubles_up_to_its_limit(attempt: int, least: float) -> None:
    retry = Retry(max_attempts=1_000, backoff_seconds=2, max_backoff_seconds=10)
    assert least <= _delay(_answered(503), _claimed(attempt), retry) <= least * (1 + JITTER)


def test_no_attempt_starts_after_the_age_limit() -> None:
    retry = Retry(max_attempts=3, backoff_seconds=10, max_backoff_seconds=10, max_age_seconds=100)
    assert isinstance(settle(_answered(503), _claimed(age_seconds=85), retry, now=NOW), TryAgain)
    assert isinstance(settle(_answered(503), _claimed(age_seconds=95), retry, now=NOW), Finish)


def test_a_longer_wait_that_the_endpoint_asks_for_is_kept() -> None:
    assert _delay(_answered(429, "120"), _claimed()) == 120
    date = format_datetime(NOW + timedelta(seconds=90), usegmt=True)
    assert _delay(_answered(503, date), _claimed()) == 90


@pytest.mark.parametrize(
    "words", ["", "soon", "-5", "1.5", "²", "Mon, 99 Foo 2026 00:00:00 GMT", "Sun, 01 Mar 2026 01:00:00 GMT"]
)
def test_a_wait_that_is_none_leaves_the_usual_one(words: str) -> None:
    assert 2 <= _delay(_answered(503, words), _claimed()) <= 2.2


@pytest.mark.parametrize("words", ["3601", "99999999999999999999", "Sun, 01 Mar 2099 02:00:00 GMT"])
def test_a_wait_beyond_the_age_limit_ends_the_run(words: str) -> None:
    assert isinstance(settle(_answered(503, words), _claimed(), THREE, now=NOW), Finish)

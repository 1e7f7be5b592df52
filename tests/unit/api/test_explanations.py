"""Every state and reason has its words."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from scheduler.domain.executions import Execution
from scheduler.domain.states import ExecutionState, Reason, RefType, Trigger
from scheduler_api.explanations import explain

_THEN = datetime(2027, 1, 31, 10, 30, tzinfo=UTC)


def _execution(**fields: object) -> Execution:
    whole = {
        "guid": UUID(int=1),
        "ref_type": RefType.JOB,
        "ref_guid": UUID(int=2),
        "space_guid": "space",
        "trigger": Trigger.SCHEDULE,
        "state": ExecutionState.PENDING,
        "created_at": _THEN,
        **fields,
    }
    return Execution(**whole)  # type: ignore[arg-type]


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_is_a_sentence(reason: Reason) -> None:
    words = explain(_execution(state=ExecutionState.FAILED, reason=reason))
    assert words.startswith("It was planned by its schedule. It has failed. ")
    assert words.endswith(".")


@pytest.mark.parametrize("state", list(ExecutionState))
@pytest.mark.parametrize("trigger", list(Trigger))
def test_every_state_and_trigger_is_a_sentence(state: ExecutionState, trigger: Trigger) -> None:
    assert explain(_execution(state=state, trigger=trigger)).endswith(".")


def test_a_retry_says_how_often_it_was_tried_and_when_it_is_tried_again() -> None:
    assert explain(_execution(attempt=2, not_before=_THEN)) == (
        "It was planned by its schedule. It has been tried 2 times and is tried again, not before 2027-01-31T10:30:00Z."
    )


def test_a_covering_row_says_what_it_covers() -> None:
    words = explain(
        _execution(
            state=ExecutionState.SKIPPED, reason=Reason.PAUSED, covers_from=_THEN, covers_to=_THEN, covers_count=1
        )
    )
    assert words == "Nothing was run. The schedule was paused. This concerns the due instant 2027-01-31T10:30:00Z."
    many = explain(
        _execution(trigger=Trigger.MISFIRE, covers_from=_THEN, covers_to=_THEN.replace(hour=12), covers_count=3)
    )
    assert many.endswith("This concerns 3 due instants, from 2027-01-31T10:30:00Z to 2027-01-31T12:30:00Z.")

"""What became of an instant, in a word and in words."""

from typing import Any

from marshmallow import fields, pre_dump, validate

from scheduler.domain.states import ExecutionState, Reason
from scheduler_api.explanations import explain
from scheduler_api.schemas.base import Answer, Loose
from scheduler_api.schemas.fields import Instant
from scheduler_api.schemas.paging import LinkAnswer
from scheduler_api.usecases.why import Verdict, Why

_WORDS = {
    Verdict.RAN: "It ran.",
    Verdict.LATE: "It ran, but it began later than the schedule's grace allows for.",
    Verdict.WAITING: "It is due and has not begun yet.",
    Verdict.NOT_STARTED: "It was planned and ended before it had begun.",
    Verdict.COVERED: "It was missed; one run made up for this and other instants.",
    Verdict.SKIPPED: "It was skipped.",
    Verdict.PAUSED: "The schedule is or was paused at the time.",
    Verdict.NEEDS_REVIEW: "The schedule waits or waited for a review and planned nothing.",
    Verdict.TO_COME: "It is still to come.",
    Verdict.NOT_DUE: "The schedule is not due at this instant.",
    Verdict.UNKNOWN: "Nothing is recorded: its history is pruned, or the schedule was another one at the time.",
}


class WhyQuery(Loose):
    """Which instant."""

    at = Instant(required=True, metadata={"description": "the instant, such as 2027-01-31T10:30:00Z"})


class WhyLinksAnswer(Answer):
    """Where to read on."""

    schedule = fields.Nested(LinkAnswer, required=True)
    execution = fields.Nested(LinkAnswer, required=True, allow_none=True)


def _links(why: Why) -> dict[str, Any]:
    schedule = why.schedule
    path = f"/{schedule.ref_type}s/{schedule.ref_guid}/schedules/{schedule.guid}"
    execution = {"href": f"/executions/{why.execution.guid}"} if why.execution else None
    return {"schedule": {"href": path}, "execution": execution}


class WhyAnswer(Answer):
    """What became of an instant."""

    at = Instant(required=True)
    verdict = fields.String(required=True, validate=validate.OneOf(list(Verdict)))
    explanation = fields.String(required=True)
    execution_guid = fields.UUID(required=True, allow_none=True)
    state = fields.String(required=True, allow_none=True, validate=validate.OneOf([*ExecutionState, None]))
    reason = fields.String(required=True, allow_none=True, validate=validate.OneOf([*Reason, None]))
    previous_due = Instant(required=True, allow_none=True)
    next_due = Instant(required=True, allow_none=True)
    links = fields.Nested(WhyLinksAnswer, required=True)

    @pre_dump
    def as_document(self, why: Why, **_: Any) -> dict[str, Any]:
        """Return the answer's parts side by side."""
        execution = why.execution
        words = _WORDS[why.verdict]
        return {
            "at": why.at,
            "verdict": why.verdict,
            "explanation": f"{words} {explain(execution)}" if execution else words,
            "execution_guid": execution and execution.guid,
            "state": execution and execution.state,
            "reason": execution and execution.reason,
            "previous_due": why.previous_due,
            "next_due": why.next_due,
            "links": _links(why),
        }

"""Schedules, as they are sent."""

from typing import Any

from marshmallow import Schema, fields, post_load

from scheduler.domain.states import DayMatch, ExpressionType, MisfirePolicy, OnFold, OnGap, Overlap, ResumePolicy
from scheduler.timetable.expression_types import read_expression_type
from scheduler_api.schemas.base import Body, Patch
from scheduler_api.schemas.fields import Flag, Instant, Text, Whole, Word
from scheduler_api.schemas.idempotency import MAX_KEY_CHARACTERS
from scheduler_api.schemas.metadata import Metadata

MAX_EXPRESSION_CHARACTERS = 10_000  # the dialect's own limit is 256, after trimming, and has a finding of its own
MAX_ZONE_CHARACTERS = 64
_MAX_RUNS = 1_000_000_000_000
_YEAR_SECONDS = 366 * 86_400


def _expression(**kwargs: Any) -> Text:
    return Text(most=MAX_EXPRESSION_CHARACTERS, lines=True, metadata={"examples": ["0 30 9 * * *"]}, **kwargs)


class _MisfireFields(Schema):
    policy = Word(MisfirePolicy, allow_none=True, metadata={"description": "default run_once"})
    grace_seconds = Whole(least=0, most=86_400, allow_none=True, metadata={"description": "default 60"})
    max_runs = Whole(least=1, most=10_000, allow_none=True, metadata={"description": "per episode; default 1000"})
    max_age_seconds = Whole(least=60, most=31 * 86_400, allow_none=True, metadata={"description": "default 7 days"})


class MisfireBody(_MisfireFields, Body):
    """What becomes of missed runs."""


class MisfirePatch(_MisfireFields, Patch):
    """What is to change about missed runs."""


class _ScheduleOptions(Schema):
    expression_type = fields.String(
        allow_none=True,
        metadata={"enum": [*ExpressionType, "", None], "description": "absent or empty: cron_expression"},
    )
    enabled = Flag(allow_none=True, metadata={"description": "default true; false: created paused"})
    time_zone = Text(most=MAX_ZONE_CHARACTERS, allow_none=True, metadata={"examples": ["Europe/Berlin"]})
    day_match = Word(DayMatch, allow_none=True, metadata={"description": "default all"})
    on_gap = Word(OnGap, allow_none=True, metadata={"description": "default shift"})
    on_fold = Word(OnFold, allow_none=True, metadata={"description": "default auto"})
    overlap = Word(Overlap, allow_none=True, metadata={"description": "default allow, for fixed rates wait"})
    start_deadline_seconds = Whole(
        least=0, most=_YEAR_SECONDS, allow_none=True, metadata={"description": "0: none; default 3600"}
    )
    delete_after_run = Flag(allow_none=True, metadata={"description": "for one_time only; default false"})
    start_time = Instant(allow_none=True, metadata={"description": "nothing fires before"})
    end_time = Instant(allow_none=True, metadata={"description": "nothing fires after"})
    max_runs = Whole(least=1, most=_MAX_RUNS, allow_none=True)
    metadata = Metadata(allow_none=True, metadata={"description": "anything; shown again as it was sent"})

    @post_load
    def read_words(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Return the fields with the expression's type read; an empty zone is none."""
        if "expression_type" in data:
            data["expression_type"] = read_expression_type(data["expression_type"])
        if data.get("time_zone") == "":
            data["time_zone"] = None
        return data


class ScheduleBody(_ScheduleOptions, Body):
    """A new schedule."""

    expression = _expression(required=True)
    misfire = fields.Nested(MisfireBody, allow_none=True)


class SchedulePatch(_ScheduleOptions, Patch):
    """What is to change about a schedule. The fields of `misfire` change one by one, `metadata` as a whole."""

    expression = _expression()
    misfire = fields.Nested(MisfirePatch, allow_none=True)


class PauseBody(Body):
    """How to pause a schedule."""

    note = Text(most=1_000, allow_none=True, metadata={"description": "why, for others to read"})
    until = Instant(allow_none=True, metadata={"description": "resumes by itself then"})


class ResumeBody(Body):
    """How to resume a schedule."""

    missed = Word(
        ResumePolicy, allow_none=True, metadata={"description": "what becomes of runs missed meanwhile; skip_paused"}
    )


class TriggerBody(Body):
    """How to trigger a schedule."""

    trigger_id = Text(
        most=MAX_KEY_CHARACTERS, allow_none=True, metadata={"description": "the same id gives the same execution"}
    )

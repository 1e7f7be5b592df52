"""Between rows of `schedules` and the domain's Schedule."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from scheduler.domain.schedules import Definition, Misfire, Progress, Schedule
from scheduler.domain.states import (
    DayMatch,
    ExpressionType,
    MisfirePolicy,
    OnFold,
    OnGap,
    Overlap,
    PausedBy,
    RefType,
    ResumePolicy,
    ScheduleState,
)

# Calling an enumeration takes several times as long as looking a member up, and a ticker does little else.
_WORDS: Mapping[type[StrEnum], Mapping[str, Any]] = {
    words: {word.value: word for word in words}
    for words in (DayMatch, ExpressionType, MisfirePolicy, OnFold, OnGap, Overlap, RefType, ScheduleState)
}


def schedule_from(row: Any) -> Schedule:
    """Return the schedule that a row of the table holds."""
    return Schedule(
        guid=row.guid,
        ref_type=_WORDS[RefType][row.ref_type],
        ref_guid=row.ref_guid,
        space_guid=row.space_guid,
        definition=_definition(row),
        progress=_progress(row),
        definition_version=row.definition_version,
        metadata=row.metadata or {},
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _definition(row: Any) -> Definition:
    return Definition(
        expression=row.expression,
        expression_type=_WORDS[ExpressionType][row.expression_type],
        time_zone=row.time_zone,
        day_match=_WORDS[DayMatch][row.day_match],
        on_gap=_WORDS[OnGap][row.on_gap],
        on_fold=_WORDS[OnFold][row.on_fold],
        misfire=Misfire(
            policy=_WORDS[MisfirePolicy][row.misfire_policy],
            grace_seconds=row.misfire_grace_seconds,
            max_runs=row.misfire_max_runs,
            max_age_seconds=row.misfire_max_age_seconds,
        ),
        overlap=_WORDS[Overlap][row.overlap],
        start_deadline_seconds=row.start_deadline_seconds,
        start_time=row.start_time,
        end_time=row.end_time,
        max_runs=row.max_runs,
        delete_after_run=row.delete_after_run,
        anchor_at=row.anchor_at,
    )


def _progress(row: Any) -> Progress:
    return Progress(
        cursor_at=row.cursor_at,
        next_fire_at=row.next_fire_at,
        last_fire_at=row.last_fire_at,
        state=_WORDS[ScheduleState][row.state],
        enabled=row.enabled,
        paused_by=row.paused_by and PausedBy(row.paused_by),
        pause_note=row.pause_note,
        paused_until=row.paused_until,
        resume_policy=row.resume_policy and ResumePolicy(row.resume_policy),
        resume_to=row.resume_to,
        run_count=row.run_count,
        episode_count=row.episode_count,
        missed_count=row.missed_count,
        skipped_count=row.skipped_count,
    )


def definition_columns(definition: Definition) -> Mapping[str, object]:
    """Return the columns that hold a definition."""
    columns = {name: getattr(definition, name) for name in Definition.__slots__ if name != "misfire"}
    return columns | {f"misfire_{name}": getattr(definition.misfire, name) for name in Misfire.__slots__}


def progress_columns(progress: Progress) -> Mapping[str, object]:
    """Return the columns that hold a schedule's progress."""
    return {name: getattr(progress, name) for name in Progress.__slots__}

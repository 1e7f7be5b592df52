"""What becomes of due instants: misfire, catch-up, overlap, pause (docs/timetables.md).

Pure: the schedule, what of it is live, and `now` come in; rows and progress go out. The invariant behind all of it:
every due instant ends in exactly one row's record, its own, a covering one or a SKIPPED one.
"""

from scheduler.policies.actions import edit, end_of_parent, pause, rebind, resume, revalidate, unbind
from scheduler.policies.admission import admits, state_of_triggered
from scheduler.policies.passing import MAX_ROWS
from scheduler.policies.planning import plan
from scheduler.policies.progress import anchored, create_progress, replan_next_fire
from scheduler.policies.rules import broken_rules, default_overlap

__all__ = [
    "MAX_ROWS",
    "admits",
    "anchored",
    "broken_rules",
    "create_progress",
    "default_overlap",
    "edit",
    "end_of_parent",
    "pause",
    "plan",
    "rebind",
    "replan_next_fire",
    "resume",
    "revalidate",
    "state_of_triggered",
    "unbind",
]

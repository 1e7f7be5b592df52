"""What can be done to a schedule beside changing it: pause, resume, trigger, revalidate."""

from typing import Any

import click

from sch.api import uses_api
from sch.commands.work import start
from sch.grammar.bodies import given
from sch.grammar.commands import Command, command
from sch.grammar.options import GUID, space_option, wait_options
from sch.names import find_work
from sch.remote.session import Session
from sch.views.schedules import schedule_details
from scheduler.domain.states import RefType, ResumePolicy


def _pause(kind: RefType) -> Command:
    @command(
        "pause",
        "Pause a schedule\n\nWhat is running goes on; nothing new is started.",
        examples=(
            f"sch {kind}s schedules pause nightly GUID",
            f"sch {kind}s schedules pause nightly GUID --note 'stocktaking' --until 2027-01-03T00:00:00Z",
        ),
        see_also="resume, trigger",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @click.option("--note", metavar="TEXT", help="Why")
    @click.option("--until", metavar="INSTANT", help="Resume by itself at this time")
    @space_option
    @uses_api
    def pause(session: Session, name: str, schedule: str, space: str | None, **options: Any) -> None:
        _act(session, kind, (name, schedule, space), "pause", "Pausing", given(options))

    return pause


def _resume(kind: RefType) -> Command:
    @command(
        "resume",
        "Resume a paused schedule",
        examples=(
            f"sch {kind}s schedules resume nightly GUID",
            f"sch {kind}s schedules resume nightly GUID --missed run_once",
        ),
        see_also="pause",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @click.option(
        "--missed",
        type=click.Choice([str(policy) for policy in ResumePolicy]),
        help="What becomes of the runs that fell into the pause (skip_paused)",
    )
    @space_option
    @uses_api
    def resume(session: Session, name: str, schedule: str, space: str | None, **options: Any) -> None:
        _act(session, kind, (name, schedule, space), "resume", "Resuming", given(options))

    return resume


def _revalidate(kind: RefType) -> Command:
    @command(
        "revalidate",
        "Let a schedule that needs review go on from now",
        examples=(f"sch {kind}s schedules revalidate nightly GUID",),
        see_also="history",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @space_option
    @uses_api
    def revalidate(session: Session, name: str, schedule: str, space: str | None) -> None:
        _act(session, kind, (name, schedule, space), "revalidate", "Revalidating", {})

    return revalidate


def _trigger(kind: RefType) -> Command:
    @command(
        "trigger",
        "Run a schedule once more, now\n\nAlso while it is paused; its timetable is not moved.",
        examples=(
            f"sch {kind}s schedules trigger nightly GUID --wait",
            f"sch {kind}s schedules trigger nightly GUID --trigger-id release-42",
        ),
        see_also=f"{kind}s execute",
    )
    @click.argument("name", metavar=kind.upper())
    @click.argument("schedule", metavar="SCHEDULE", type=GUID)
    @click.option("--trigger-id", metavar="ID", help="The same id again gives the same execution")
    @wait_options
    @space_option
    @uses_api
    def trigger(
        session: Session, name: str, schedule: str, trigger_id: str | None, timeout: float | None, space: str | None,
        *, wait: bool,
    ) -> None:  # fmt: skip
        work = find_work(session, kind, name, space)
        work.announce(session, "Triggering a schedule of")
        path = work.path("schedules", schedule, "actions", "trigger")
        start(session, path, body=given({"trigger_id": trigger_id}), wait=wait, timeout=timeout)

    return trigger


def _act(
    session: Session, kind: RefType, which: tuple[str, str, str | None], action: str, words: str, body: dict[str, Any]
) -> None:
    name, schedule, space = which
    work = find_work(session, kind, name, space)
    work.announce(session, f"{words} a schedule of")
    answer = session.api.send("POST", work.path("schedules", schedule, "actions", action), body=body)
    session.screen.json(answer.text)
    session.screen.ok()
    session.screen.details(schedule_details(answer.row()))


ACTIONS = (_pause, _resume, _trigger, _revalidate)

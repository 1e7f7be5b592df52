"""Waiting for an execution to end, and saying how it ended."""

import time
from typing import NoReturn

from sch.errors import CliError, UnsuccessfulError
from sch.remote.answers import Answer, RefusedError, Row, shown
from sch.remote.client import UnreachableError, path_of
from sch.remote.session import Session
from sch.terminal.text import clean
from sch.terminal.times import shown_seconds
from sch.views.executions import execution_details

_ENDED = {"SUCCEEDED", "FAILED", "SKIPPED"}
_PATIENCE_SECONDS = 60.0  # for a scheduler that is being restarted
QUICK_SECONDS, SLOW_SECONDS = 0.5, 3.0  # between two looks, during the first ten seconds and afterwards
_PASSING = {429, 500, 502, 503, 504}


def path_of_execution(guid: str, *rest: str) -> str:
    """Return the path of an execution, or of something below it."""
    return path_of("executions", guid, *rest)


def wait_for(session: Session, guid: str, *, seconds: float | None) -> Answer:
    """Return the execution once it has ended, showing its state meanwhile.

    Raises CliError when it has not after `seconds`.
    """
    progress = session.screen.progress()
    start = time.monotonic()
    try:
        while True:
            answer = _ask(session, guid)
            if shown(row := answer.row(), "state") in _ENDED:
                return answer
            waited = time.monotonic() - start
            progress.show(_present(row), shown_seconds(waited))
            if seconds is not None and waited >= seconds:
                raise CliError(f"The execution has not ended within {shown_seconds(seconds)}. {_later(guid)}")
            time.sleep(QUICK_SECONDS if waited < 10 else SLOW_SECONDS)
    except KeyboardInterrupt:
        progress.close()
        session.screen.note(f"The execution goes on. {_later(guid)}")
        raise
    finally:
        progress.close()


def show_outcome(session: Session, answer: Answer) -> None:
    """Show how an execution has ended; raises UnsuccessfulError unless it has succeeded."""
    screen, row = session.screen, answer.row()
    screen.json(answer.text)
    screen.details(execution_details(row))
    screen.say()
    if shown(row, "state") == "SUCCEEDED":
        screen.ok()
        return
    _fail(session, row)


def _fail(session: Session, row: Row) -> NoReturn:
    why = clean(shown(row, "message", "reason"))
    session.screen.fail(f"The execution ended {clean(shown(row, 'state'))}" + (f": {why}" if why else "."))
    raise UnsuccessfulError


def _ask(session: Session, guid: str) -> Answer:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return session.api.get(path_of_execution(guid))
        except (UnreachableError, RefusedError) as error:
            passing = not isinstance(error, RefusedError) or error.answer.status in _PASSING
            if not passing or time.monotonic() > deadline:
                raise
            time.sleep(SLOW_SECONDS)


def _present(row: Row) -> str:
    attempt = row.get("attempt")
    again = f", attempt {attempt}" if isinstance(attempt, int) and attempt > 1 else ""
    return shown(row, "state") + again


def _later(guid: str) -> str:
    return f"Look again with: sch executions watch {guid}"

"""Deleting: asked about on a terminal, unless told not to."""

from collections.abc import Callable

from sch.remote.session import Session
from sch.terminal.text import clean


def delete(
    session: Session, path: str, question: str, label: str, announce: Callable[[], None], *, force: bool
) -> None:
    """Delete what is at the path. `question` has a {} for the label of what goes."""
    screen = session.screen
    if not force and not confirmed(session, question.format(clean(label))):
        screen.say(f"'{clean(label)}' has not been deleted.")
        return
    announce()
    session.api.send("DELETE", path)
    screen.ok()


def confirmed(session: Session, question: str) -> bool:
    """Ask where somebody is there to answer; scripts have said what they want."""
    return not session.screen.interactive or session.screen.confirm(question)

"""Which space a command is about: the option, SCHEDULER_SPACE, or what cf targets."""

import re

from sch.errors import UsageError
from sch.remote.cf import Space
from sch.remote.session import Session
from sch.terminal.text import clean

_GUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


def is_guid(text: str) -> bool:
    """Tell whether the text is a GUID and not a name."""
    return _GUID.fullmatch(text) is not None


def find_space(session: Session, wanted: str | None) -> Space:
    """Return the space.

    Raises UsageError when none is given, or a name that cannot be looked up.
    """
    text = wanted or session.environment.get("SCHEDULER_SPACE", "")
    targeted = session.cf.targeted_space()
    if not text:
        if targeted is None:
            raise UsageError("No space is given. Use --space, set SCHEDULER_SPACE, or target one: cf target -s SPACE")
        return targeted
    if targeted is not None and text in {targeted.guid, targeted.name}:
        return targeted
    return Space(guid=text) if is_guid(text) else Space(guid=_look_up(session, text), name=text)


def guid_of_app(session: Session, app: str) -> str:
    """Return the app's GUID.

    Raises UsageError for a name that cannot be looked up.
    """
    if is_guid(app):
        return app
    _need_cf(session, "app", app)
    return session.cf.guid_of_app(app)


def _look_up(session: Session, name: str) -> str:
    _need_cf(session, "space", name)
    return session.cf.guid_of_space(name)


def _need_cf(session: Session, kind: str, name: str) -> None:
    if not session.cf.installed:
        raise UsageError(f"{clean(name)} is no GUID, and no cf command is there to look the {kind} up by its name.")

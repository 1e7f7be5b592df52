"""From what the user types to the job or call that is meant."""

from dataclasses import dataclass

from sch.errors import CliError
from sch.remote.answers import Row, shown
from sch.remote.client import path_of
from sch.remote.paging import all_rows
from sch.remote.session import Session
from sch.spaces import find_space, is_guid
from sch.terminal.tables import table_lines
from sch.terminal.text import clean
from scheduler.domain.states import RefType


@dataclass(frozen=True, kw_only=True)
class Work:
    """A job or call, as far as a command must know it."""

    kind: RefType
    guid: str
    label: str  # what the user called it
    space: str = ""  # the label of the space in which its name was looked up

    def path(self, *rest: str) -> str:
        """Return the path of the job or call, or of something below it."""
        return path_of(f"{self.kind}s", self.guid, *rest)

    def announce(self, session: Session, action: str) -> None:
        """Print the heading: what is done to which job or call, where, as whom."""
        where, names = (" in space {}", (self.space,)) if self.space else ("", ())
        session.screen.heading(f"{action} {self.kind} {{}}{where} as {{}}...", self.label, *names, session.user)


def find_work(session: Session, kind: RefType, text: str, space: str | None) -> Work:
    """Return the job or call with this GUID, or with this name in the space.

    Raises CliError when there is none, or more than one.
    """
    if is_guid(text):
        return Work(kind=kind, guid=text, label=text)
    where = find_space(session, space)
    rows = all_rows(session.api, path_of(f"{kind}s"), {"space_guid": where.guid})
    found = [row for row in rows if row.get("name") == text]
    if not found:
        raise CliError(f"{kind.capitalize()} '{clean(text)}' not found in space {clean(where.label)}.")
    if len(found) > 1:
        raise CliError(_ambiguous(kind, text, where.label, found))
    return Work(kind=kind, guid=shown(found[0], "guid"), label=text, space=where.label)


def _ambiguous(kind: RefType, text: str, space: str, found: list[Row]) -> str:
    rows = [[shown(row, "guid"), shown(row, "app_guid")] for row in found]
    table = "\n".join(f"   {line}" for line in table_lines(["guid", "app"], rows))
    return f"Several {kind}s in space {clean(space)} are named '{clean(text)}'. Use the GUID:\n\n{table}"

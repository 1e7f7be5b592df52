"""`sch calls`."""

from collections.abc import Callable
from typing import Any

import click

from sch.api import uses_api
from sch.commands.attached import schedules_group
from sch.commands.work import add_work_commands, show_work
from sch.grammar.arguments import placed
from sch.grammar.bodies import changes, text_or_file
from sch.grammar.call_options import call_body, call_options
from sch.grammar.commands import Group, command
from sch.grammar.options import space_option
from sch.names import find_work
from sch.remote.session import Session
from sch.spaces import guid_of_app
from scheduler.domain.states import RefType

_SECRET = "The value of its Authorization header; - reads it from standard input, @FILE from a file"  # noqa: S105


@click.group("calls", cls=Group, help="Named HTTP requests for an app")
def calls() -> None:
    """Collect the commands."""


@command(
    "create",
    "Create a call for an app\n\nAUTH_HEADER is the value of the Authorization header that is sent. It is never shown "
    "again. Written as - it is read from standard input, as @FILE from a file, so that it is in no shell history.",
    examples=(
        "sch calls create my-app ping https://my-app.example.com/ping 'bearer s3cret'",
        "sch calls create my-app report https://my-app.example.com/report - --body @report.json < token.txt",
    ),
    see_also="calls execute, calls schedules create",
)
@click.argument("words", metavar="APP NAME URL AUTH_HEADER", nargs=-1)
@click.option("--app", metavar="APP", help="Instead of the argument: the app, by name or GUID")
@click.option("--url", metavar="URL", help="Instead of the argument: the URL")
@click.option("--auth-header", metavar="VALUE", help="Instead of the argument: the secret")
@call_options
@uses_api
def create(
    session: Session, words: tuple[str, ...], app: str | None, url: str | None, auth_header: str | None, **options: Any
) -> None:
    """Create a call."""
    wanted = {"APP": app, "NAME": None, "URL": url, "AUTH_HEADER": auth_header}
    app, name, url, auth_header = placed(words, wanted)
    body = {"name": name, "url": url, "auth_header": text_or_file(auth_header), **call_body(options)}
    app_guid = guid_of_app(session, app)
    session.screen.heading("Creating call {} for app {} as {}...", name, app, session.user)
    _show(session, lambda: session.api.send("POST", "/calls", {"app_guid": app_guid}, body=body))


@command(
    "update",
    "Change a call",
    examples=(
        "sch calls update ping --url https://my-app.example.com/pong",
        "sch calls update ping --auth-header - < token.txt",
    ),
)
@click.argument("name", metavar="CALL")
@space_option
@click.option("--name", "new_name", metavar="NAME", help="Its new name")
@click.option("--url", metavar="URL", help="Its new URL")
@click.option("--auth-header", metavar="VALUE", help=_SECRET)
@call_options
@uses_api
def update(
    session: Session, name: str, space: str | None, new_name: str | None, url: str | None, auth_header: str | None,
    **options: Any,
) -> None:  # fmt: skip
    """Change a call."""
    secret = auth_header and text_or_file(auth_header)
    body = changes({"name": new_name, "url": url, "auth_header": secret, **call_body(options)})
    call = find_work(session, RefType.CALL, name, space)
    call.announce(session, "Changing")
    _show(session, lambda: session.api.send("PATCH", call.path(), body=body))


def _show(session: Session, ask: Callable[[], Any]) -> None:
    answer = ask()
    session.screen.json(answer.text)
    session.screen.ok()
    show_work(session, answer.row())


calls.add_command(create)
calls.add_command(update)
add_work_commands(calls, RefType.CALL)
calls.add_command(schedules_group(RefType.CALL))

"""What the user sees once everything runs: the URL, a token, and commands to paste."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from scheduler_local import seed
from scheduler_local.up.suite import Suite


def banner(suite: Suite, variables: Mapping[str, str], environment: Path, logs: Path) -> str:
    """Return the greeting."""
    sch = _sch()
    return f"""
OCF Scheduler is running.

   API          {suite.url("api")}
   broker       {suite.url("broker")}/v2
   echo         {suite.url("echo")}   (calls may be sent here; GET / shows the last ones)
   stand-ins    UAA {suite.url("uaa")}, Cloud Controller {suite.url("cc")}
   logs         {_short(logs)}

   token of the user "{seed.DEVELOPER}", who is a developer in the space "{seed.SPACE}", good for a day:

{variables["SCHEDULER_TOKEN"]}

Paste this into another terminal: a job, a schedule that runs it every five seconds, its history.

   . {_short(environment)}
   {sch} jobs create hello --app "$APP" --command 'echo "hello at $(date +%T)"'
   {sch} jobs schedules create hello '*/5 * * * * *'
   {sch} jobs history hello

What the job prints appears below. Ctrl-C stops everything; the data are kept in {_short(environment.parent)}.
"""


def _sch() -> str:
    """Return how to call `sch` from this folder."""
    beside = Path(sys.executable).with_name("sch")
    return "sch" if shutil.which("sch") == str(beside) else shlex.quote(_short(beside))


def _short(path: Path) -> str:
    """Return the path from the present folder, where that is shorter."""
    relative = os.path.relpath(path)
    return relative if len(relative) < len(str(path)) else str(path)

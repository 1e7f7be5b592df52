"""What the cf command line knows: the user's token, the targeted space, the GUIDs behind names."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sch.errors import CliError
from sch.terminal.text import clean

_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Space:
    """A space; without a name it is known by its GUID."""

    guid: str
    name: str = ""

    @property
    def label(self) -> str:
        """Return what a sentence calls it."""
        return self.name or self.guid


class Cf:
    """The cf command, if it is installed, and its configuration."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._command = shutil.which("cf", path=environment.get("PATH"))

    @property
    def installed(self) -> bool:
        """Tell whether there is a cf command."""
        return self._command is not None

    def oauth_token(self) -> str:
        """Return the token of cf's user, nothing when there is no cf.

        Raises CliError when cf has none.
        """
        return self._run("oauth-token") if self.installed else ""

    def guid_of_app(self, name: str) -> str:
        """Return the GUID of an app in the targeted space; raises CliError when cf does not know it."""
        return self._run("app", _plain(name), "--guid")

    def guid_of_space(self, name: str) -> str:
        """Return the GUID of a space in the targeted org; raises CliError when cf does not know it."""
        return self._run("space", _plain(name), "--guid")

    def targeted_space(self) -> Space | None:
        """Return the space that `cf target -s` has set."""
        fields = self._configuration().get("SpaceFields")
        guid = fields.get("GUID") if isinstance(fields, dict) else None
        if not isinstance(fields, dict) or not isinstance(guid, str) or not guid:
            return None
        return Space(guid=guid, name=str(fields.get("Name") or ""))

    def scheduler_url(self) -> str:
        """Return where a scheduler usually is beside the targeted API, nothing when none is targeted."""
        target = self._configuration().get("Target")
        if not isinstance(target, str):
            return ""
        parts = urlsplit(target)
        _, dot, domain = parts.netloc.partition(".")
        return f"{parts.scheme}://scheduler.{domain}" if parts.scheme and dot else ""

    def _configuration(self) -> dict[str, Any]:
        home = self._environment.get("CF_HOME") or self._environment.get("HOME") or "."
        try:
            content = json.loads((Path(home) / ".cf" / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return content if isinstance(content, dict) else {}

    def _run(self, *arguments: str) -> str:
        assert self._command is not None
        what = f"cf {arguments[0]}"
        try:
            done = subprocess.run(  # noqa: S603 - the user's own cf, with arguments that no shell sees
                [self._command, *arguments],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
                env={**self._environment, "CF_TRACE": "false"},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CliError(f"{what} did not work: {type(error).__name__}") from error
        if done.returncode:
            words = " ".join(line.strip() for line in done.stderr.splitlines() if line.strip() and line != "FAILED")
            raise CliError(f"{what} did not work: {clean(words) or 'it says nothing about why'}")
        lines = done.stdout.split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _plain(name: str) -> str:
    if name.startswith("-"):  # cf would take it for an option
        raise CliError(f"{clean(name)} is not a name that cf could be asked about; use the GUID")
    return name

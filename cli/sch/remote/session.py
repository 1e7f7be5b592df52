"""One command's dealings with the scheduler: who asks, where, and for which space."""

import base64
import json
from collections.abc import Mapping
from typing import Any

from sch.remote.cf import Cf
from sch.remote.client import Client
from sch.remote.settings import read_settings
from sch.terminal.screen import Screen

_UNKNOWN = "the token's user"


class Session:
    """The scheduler's API as the user of this command, and the screen on which it is shown."""

    def __init__(self, screen: Screen, environment: Mapping[str, str]) -> None:
        self.screen = screen
        self.environment = environment
        self.cf = Cf(environment)
        self._settings = read_settings(environment, self.cf)
        self.api = Client(self._settings)

    @property
    def user(self) -> str:
        """Return the name in the token; the scheduler verifies it, we only show it."""
        try:
            payload = self._settings.token.split(".")[1]
            claims: Any = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
            return str(claims.get("user_name") or claims.get("client_id") or "") or _UNKNOWN
        except (IndexError, ValueError, AttributeError, RecursionError):
            return _UNKNOWN

    def close(self) -> None:
        """Let the connections go."""
        self.api.close()

"""What a test can say to a stand-in, and ask it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from scheduler_local import seed

_STOP_SECONDS = 10.0

ScriptedStep = Mapping[str, Any]  # {"state": …, "seconds"?: …, "reason"?: …}; the last one stays
PENDING_FOR_EVER: Sequence[ScriptedStep] = ({"state": "PENDING"},)
RUNNING_FOR_EVER: Sequence[ScriptedStep] = ({"state": "RUNNING"},)
SUCCEEDED: Sequence[ScriptedStep] = ({"state": "SUCCEEDED"},)


def failed(reason: str = "Exited with status 1") -> Sequence[ScriptedStep]:
    """Return the script of a task that fails at once."""
    return ({"state": "FAILED", "reason": reason},)


@dataclass(frozen=True, kw_only=True)
class MadeApp:
    """An app that the stand-in knows."""

    guid: str
    name: str
    space_guid: str


class StandIn:
    """What both stand-ins can do."""

    def __init__(self, url: str, log: Path | None = None) -> None:
        self.url = url
        self._log = log
        self._session = requests.Session()
        self._session.trust_env = False  # it is next door, never behind a proxy

    def reset(self) -> None:
        """Return to the seed; clear faults and the log of requests."""
        self._control("POST", "reset")

    def fault(self, kind: str, **options: Any) -> None:
        """Let something go wrong; kinds and options are those of `scheduler_local.standin.faults.Fault`."""
        self._control("POST", "faults", {"kind": kind, **options})

    def clear_faults(self) -> None:
        """Let nothing go wrong any more."""
        self._control("DELETE", "faults")

    def requests(self, *, method: str = "", path: str = "", since: float = 0.0) -> list[dict[str, Any]]:
        """Return the requests received: at, method, path, query, headers, authorization, body, status."""
        found: list[dict[str, Any]] = self._traffic(method, path, since)["requests"]
        return found

    def busiest_second(self, *, method: str = "", path: str = "", since: float = 0.0) -> int:
        """Return the number of such requests in the fullest second."""
        return int(self._traffic(method, path, since)["busiest_second"])

    def output(self) -> str:
        """Return what the process has printed, for Cloud Controller also what its tasks have."""
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log else ""

    def close(self) -> None:
        """Let the connections go."""
        self._session.close()

    def _traffic(self, method: str, path: str, since: float) -> Any:
        return self._control("GET", "requests", query={"method": method, "path": path, "since": since})

    def _control(self, method: str, what: str, body: Any = None, *, query: Mapping[str, Any] | None = None) -> Any:
        wish = {} if body is None and method != "GET" else body
        answer = self._session.request(method, f"{self.url}/_standin/{what}", json=wish, params=query, timeout=60)
        answer.raise_for_status()
        return answer.json()


class StandInUaa(StandIn):
    """A UAA that gives out whatever token a test wants."""

    def token(self, user: str = seed.DEVELOPER, **wishes: Any) -> str:
        """Return a user's token. Wishes: scopes, seconds, claims, refresh, kid, algorithm (none, HS256)."""
        return str(self._control("POST", "tokens", {"user": user, **wishes})["access_token"])

    def admin_token(self) -> str:
        """Return the token of a user who may do everything."""
        return self.token(seed.ADMIN)

    def client_token(self, client: str = seed.CLIENT_ID, **wishes: Any) -> str:
        """Return a token that belongs to no user."""
        return str(self._control("POST", "tokens", {"client": client, **wishes})["access_token"])

    def add_user(self, name: str, *, scopes: Iterable[str] = seed.USER_SCOPES, active: bool = True) -> str:
        """Add or change a user; return the GUID."""
        wish = {"name": name, "scopes": list(scopes), "active": active}
        return str(self._control("POST", "users", wish)["guid"])

    def set_client(
        self,
        name: str = seed.CLIENT_ID,
        *,
        secret: str = seed.CLIENT_SECRET,
        scopes: Iterable[str] = seed.CLIENT_SCOPES,
        token_seconds: int = 600,
    ) -> None:
        """Add or change a client: take scopes away, or let its tokens end sooner (negative: before they begin)."""
        wish = {"name": name, "secret": secret, "scopes": list(scopes), "token_seconds": token_seconds}
        self._control("POST", "clients", wish)

    def revoke(self, token: str) -> None:
        """Make a token worthless."""
        self._control("POST", "revocations", {"token": token})

    def rotate_keys(self, *, keep_old: bool = True, show_new: bool = True) -> str:
        """Sign with a new key from now on; with `show_new=False` it is one that nobody can look up."""
        return str(self._control("POST", "keys", {"keep_old": keep_old, "show_new": show_new})["kid"])


class StandInController(StandIn):
    """A Cloud Controller whose apps, roles and tasks are what a test says."""

    def add_space(self, name: str) -> str:
        """Add a space; return its GUID."""
        return str(self._control("POST", "spaces", {"name": name})["guid"])

    def remove_space(self, guid: str) -> None:
        """Remove a space with everything in it."""
        self._control("DELETE", f"spaces/{guid}")

    def add_app(self, space: str = seed.SPACE, **wishes: Any) -> MadeApp:
        """Add an app to the space of this name. Wishes: name, guid, has_droplet."""
        return MadeApp(**self._control("POST", "apps", {"space": space, **wishes}))

    def remove_app(self, guid: str) -> None:
        """Remove an app with its tasks."""
        self._control("DELETE", f"apps/{guid}")

    def grant(self, user: str, space: str = seed.SPACE, role: str = "space_developer") -> None:
        """Give a user a role in the space of this name."""
        self._control("POST", "roles", {"user": user, "space": space, "role": role})

    def withdraw(self, user: str, space: str = seed.SPACE) -> None:
        """Take a user's roles in the space away."""
        self._control("DELETE", "roles", {"user": user, "space": space})

    def script_tasks(self, steps: Sequence[ScriptedStep], *, app_guid: str = "", count: int | None = None) -> None:
        """Let new tasks go as written instead of running their command."""
        self._control("POST", "scripts", {"steps": list(steps), "app_guid": app_guid, "count": count})

    def script_task(self, guid: str, steps: Sequence[ScriptedStep]) -> None:
        """Let one task go on as written from now."""
        self._control("PATCH", f"tasks/{guid}", {"steps": list(steps)})

    def add_tasks(self, app_guid: str, steps: Sequence[ScriptedStep], **wishes: Any) -> list[str]:
        """Add tasks that somebody else created; return their GUIDs. Wishes: count, age_seconds, name, labels."""
        wish = {"app_guid": app_guid, "steps": list(steps), **wishes}
        return list(self._control("POST", "tasks", wish)["guids"])

    def remove_task(self, guid: str) -> None:
        """Let a task vanish."""
        self._control("DELETE", f"tasks/{guid}")

    def tasks(self) -> list[dict[str, Any]]:
        """Return all tasks: guid, app_guid, name, command, state, failure_reason, labels, annotations, …"""
        return list(self._control("GET", "tasks")["tasks"])

    def limit(self, **limits: int) -> None:
        """Set quotas: app_task_limit, memory_in_mb, maximum_disk_in_mb (-1: none); or is_diego_down=True."""
        self._control("POST", "limits", limits)

    def mitigate_fast(self, *, minute_seconds: float) -> None:
        """Let a minute of orphan mitigation last so long: the first attempt comes after two of them."""
        self._control("POST", "mitigation", {"minute_seconds": minute_seconds})

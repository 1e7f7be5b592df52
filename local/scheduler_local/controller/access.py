"""Who is asking, and what they may see and change."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt
import requests
from flask import g, request

from scheduler_local.controller.errors import ControllerError, forbidden
from scheduler_local.controller.world import World

ADMIN = "cloud_controller.admin"
GLOBAL_READ = frozenset({ADMIN, "cloud_controller.admin_read_only", "cloud_controller.global_auditor"})
_WRITE = "cloud_controller.write"
_KEPT_TOKENS = 1_000


@dataclass(frozen=True, kw_only=True)
class Access:
    """What one request may do."""

    world: World
    user_guid: str  # of a client's token: the client's name
    scopes: frozenset[str]

    @property
    def is_admin(self) -> bool:
        """Tell whether everything is allowed."""
        return ADMIN in self.scopes

    @property
    def reads_all(self) -> bool:
        """Tell whether everything is visible."""
        return bool(GLOBAL_READ & self.scopes)

    def may_read(self, space_guid: str) -> bool:
        """Tell whether the space and what is in it is visible."""
        return self.reads_all or bool(self.world.find_roles(user_guids=[self.user_guid], space_guids=[space_guid]))

    def may_write(self, space_guid: str) -> bool:
        """Tell whether the space's apps may be changed and tasks run for them."""
        if self.is_admin:
            return True
        developer = self.world.find_roles(
            types=["space_developer"], user_guids=[self.user_guid], space_guids=[space_guid]
        )
        return _WRITE in self.scopes and bool(developer)

    def require_write(self, space_guid: str) -> None:
        """Refuse the request unless it may change the space."""
        if not self.may_write(space_guid):
            raise forbidden()

    def require_admin(self) -> None:
        """Refuse the request unless it may do everything."""
        if not self.is_admin:
            raise forbidden()


class Gate:
    """Checks the token of each request against UAA's keys."""

    def __init__(self, world: World, uaa: str) -> None:
        self._world = world
        self._uaa = uaa.rstrip("/")
        self._lock = threading.Lock()
        self._session = requests.Session()
        self._session.trust_env = False  # UAA is next door, never behind a proxy
        self._keys: dict[str, jwt.PyJWK] = {}
        self._known: dict[str, Mapping[str, Any]] = {}

    def enter(self) -> None:
        """Let the request in, or refuse it."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if not token:
            raise ControllerError(401, 10002, "CF-NotAuthenticated", "Authentication error")
        claims = self._claims(token) if scheme.lower() == "bearer" else None
        if claims is None:
            raise ControllerError(401, 1000, "CF-InvalidAuthToken", "Invalid Auth Token")
        g.access = Access(
            world=self._world,
            user_guid=claims.get("user_id") or claims["client_id"],
            scopes=frozenset(claims.get("scope", [])),
        )

    def _claims(self, token: str) -> Mapping[str, Any] | None:
        try:
            claims = self._known.get(token) or self._remember(token, self._decode(token))
            is_good = claims["exp"] > time.time() and not str(claims["jti"]).endswith("-r")
        except (jwt.PyJWTError, KeyError):
            return None
        return claims if is_good else None

    def _decode(self, token: str) -> Mapping[str, Any]:
        key_id = jwt.get_unverified_header(token)["kid"]
        if key_id not in self._keys:
            self._fetch_keys()
        return jwt.decode(token, self._keys[key_id], algorithms=["RS256"], audience="cloud_controller")

    def _remember(self, token: str, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        if len(self._known) >= _KEPT_TOKENS:
            self._known = {}
        self._known[token] = claims
        return claims

    def _fetch_keys(self) -> None:
        try:
            shown = self._session.get(f"{self._uaa}/token_keys", timeout=10).json()["keys"]
        except (requests.RequestException, ValueError, KeyError) as error:
            raise ControllerError(
                503, 20004, "CF-UaaUnavailable", "The UAA service is currently unavailable"
            ) from error
        with self._lock:
            self._keys = {key["kid"]: jwt.PyJWK(key) for key in shown if key["kty"] == "RSA"}


def access() -> Access:
    """Return what the present request may do."""
    entered: Access = g.access
    return entered

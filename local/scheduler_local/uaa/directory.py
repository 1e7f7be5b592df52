"""Users and clients, and which tokens have been revoked."""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from scheduler_local import seed

TOKEN_SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class User:
    """A person."""

    guid: str
    name: str
    password: str
    scopes: tuple[str, ...]
    active: bool = True


@dataclass(frozen=True, kw_only=True)
class Client:
    """A program; `scopes` are its authorities."""

    name: str
    secret: str
    scopes: tuple[str, ...] = ()
    token_seconds: int = TOKEN_SECONDS  # negative: its tokens have ended when they are given out


class Directory:
    """Who is known. The seed's users, and whomever else a test adds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: dict[str, User] = {}
        self._clients: dict[str, Client] = {}
        self._revoked: set[str] = set()
        self.reset()

    def reset(self) -> None:
        """Return to the seed."""
        with self._lock:
            self._users, self._clients, self._revoked = {}, {}, set()
        for name in (seed.DEVELOPER, seed.MANAGER, seed.AUDITOR, seed.STRANGER):
            self.put_user(name, scopes=seed.USER_SCOPES)
        self.put_user(seed.ADMIN, scopes=seed.ADMIN_SCOPES)
        self.put_client(Client(name="cf", secret=""))
        self.put_client(Client(name=seed.CLIENT_ID, secret=seed.CLIENT_SECRET, scopes=seed.CLIENT_SCOPES))

    def put_user(self, name: str, *, scopes: Iterable[str], password: str = seed.PASSWORD, active: bool = True) -> User:
        """Add or replace a user."""
        user = User(guid=seed.user_guid(name), name=name, password=password, scopes=tuple(scopes), active=active)
        with self._lock:
            self._users[name] = user
        return user

    def put_client(self, client: Client) -> None:
        """Add or replace a client."""
        with self._lock:
            self._clients[client.name] = client

    def user(self, name: str) -> User | None:
        """Return the user of this name."""
        return self._users.get(name)

    def user_with_guid(self, guid: str) -> User | None:
        """Return the user with this GUID."""
        with self._lock:
            return next((user for user in self._users.values() if user.guid == guid), None)

    def client(self, name: str) -> Client | None:
        """Return the client of this name."""
        return self._clients.get(name)

    def revoke(self, token_id: str) -> None:
        """Make the token with this `jti` worthless."""
        with self._lock:
            self._revoked.add(token_id)

    def is_revoked(self, token_id: str) -> bool:
        """Tell whether the token with this `jti` was revoked."""
        return token_id in self._revoked

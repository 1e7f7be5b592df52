"""Organisations, spaces, apps and roles."""

import threading
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from scheduler_local import seed
from scheduler_local.standin.state import StateFile


@dataclass(frozen=True, kw_only=True)
class Organization:
    """Owns spaces."""

    guid: str
    name: str


@dataclass(frozen=True, kw_only=True)
class Space:
    """Owns apps."""

    guid: str
    name: str
    organization_guid: str


@dataclass(frozen=True, kw_only=True)
class App:
    """Something that tasks can be created for, if it has a droplet."""

    guid: str
    name: str
    space_guid: str
    has_droplet: bool = True


@dataclass(frozen=True, kw_only=True)
class Role:
    """What a user is in a space."""

    guid: str
    type: str
    user_guid: str
    space_guid: str


class World:
    """All of it, in memory and in `folder`, if there is one.

    With `auto_create`, asking for an unknown app makes it exist in the first space.
    """

    def __init__(self, *, folder: Path | None = None, auto_create: bool = False) -> None:
        self._lock = threading.RLock()
        self._auto_create = auto_create
        self._file = StateFile(folder, "world.json")
        self.organizations: dict[str, Organization] = {}
        self.spaces: dict[str, Space] = {}
        self.apps: dict[str, App] = {}
        self.roles: dict[str, Role] = {}
        stored = self._file.read()
        self.reset()
        if stored is not None:
            self._load(stored)

    def reset(self) -> None:
        """Return to the seed."""
        with self._lock:
            for things in (self.organizations, self.spaces, self.apps, self.roles):
                things.clear()
            organization = Organization(guid=seed.guid_of("organization", seed.ORGANIZATION), name=seed.ORGANIZATION)
            self.organizations[organization.guid] = organization
            space = self.add_space(seed.SPACE)
            self.add_space(seed.OTHER_SPACE)
            self.add_app(space.guid, name=seed.APP, guid=seed.guid_of("app", seed.APP))
            for user, role in seed.ROLES.items():
                self.grant(seed.user_guid(user), space.guid, role)

    def add_space(self, name: str) -> Space:
        """Add a space, or return the one of this name."""
        organization_guid = seed.guid_of("organization", seed.ORGANIZATION)
        space = Space(guid=seed.guid_of("space", name), name=name, organization_guid=organization_guid)
        with self._lock:
            if space.guid not in self.spaces:
                self.spaces[space.guid] = space
                self._save()
        return space

    def remove_space(self, guid: str) -> None:
        """Remove a space with everything in it."""
        with self._lock:
            self.spaces.pop(guid, None)
            for app in [app for app in self.apps.values() if app.space_guid == guid]:
                del self.apps[app.guid]
            for role in self.find_roles(space_guids=[guid]):
                del self.roles[role.guid]
            self._save()

    def add_app(self, space_guid: str, *, name: str = "", guid: str = "", has_droplet: bool = True) -> App:
        """Add an app, or replace the one with this GUID."""
        made_up = guid or str(uuid4())
        app = App(guid=made_up, name=name or f"app-{made_up[:8]}", space_guid=space_guid, has_droplet=has_droplet)
        with self._lock:
            self.apps[app.guid] = app
            self._save()
        return app

    def remove_app(self, guid: str) -> None:
        """Remove an app."""
        with self._lock:
            self.apps.pop(guid, None)
            self._save()

    def app(self, guid: str) -> App | None:
        """Return an app."""
        app = self.apps.get(guid)
        if app is None and self._auto_create:
            app = self.add_app(seed.guid_of("space", seed.SPACE), guid=guid)
        return app

    def grant(self, user_guid: str, space_guid: str, role: str) -> None:
        """Give a user a role in a space."""
        entry = Role(guid=str(uuid4()), type=role, user_guid=user_guid, space_guid=space_guid)
        with self._lock:
            if not self.find_roles(types=[role], user_guids=[user_guid], space_guids=[space_guid]):
                self.roles[entry.guid] = entry
                self._save()

    def withdraw(self, user_guid: str, space_guid: str) -> None:
        """Take all roles of a user in a space away."""
        with self._lock:
            for role in self.find_roles(user_guids=[user_guid], space_guids=[space_guid]):
                del self.roles[role.guid]
            self._save()

    def find_roles(
        self,
        *,
        types: Collection[str] | None = None,
        user_guids: Collection[str] | None = None,
        space_guids: Collection[str] | None = None,
    ) -> list[Role]:
        """Return the roles that match every filter which is not None."""
        with self._lock:
            return [
                role
                for role in self.roles.values()
                if (types is None or role.type in types)
                and (user_guids is None or role.user_guid in user_guids)
                and (space_guids is None or role.space_guid in space_guids)
            ]

    def _save(self) -> None:
        self._file.write(
            {
                "spaces": [asdict(space) for space in self.spaces.values()],
                "apps": [asdict(app) for app in self.apps.values()],
                "roles": [asdict(role) for role in self.roles.values()],
            }
        )

    def _load(self, stored: dict[str, list[dict[str, Any]]]) -> None:
        self.spaces = {fields["guid"]: Space(**fields) for fields in stored["spaces"]}
        self.apps = {fields["guid"]: App(**fields) for fields in stored["apps"]}
        self.roles = {fields["guid"]: Role(**fields) for fields in stored["roles"]}

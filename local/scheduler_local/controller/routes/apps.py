"""Organisations, spaces, apps and roles."""

from typing import Any

from flask import Blueprint

from scheduler_local.controller.access import access
from scheduler_local.controller.errors import not_found
from scheduler_local.controller.pages import keep, page_of, query
from scheduler_local.controller.parts import parts
from scheduler_local.controller.world import App, Organization, Role, Space

routes = Blueprint("apps", __name__)

_EPOCH = "2026-01-01T00:00:00Z"
_TIMES = {"created_at": _EPOCH, "updated_at": _EPOCH}


@routes.get("/v3/organizations")
def organizations() -> Any:
    """List organisations; the only one is everybody's."""
    wanted = query("names", "guids")
    found = [
        organization
        for organization in parts().world.organizations.values()
        if keep(organization.name, wanted["names"]) and keep(organization.guid, wanted["guids"])
    ]
    return page_of(found, _show_organization)


@routes.get("/v3/spaces")
def spaces() -> Any:
    """List the spaces that the caller may see."""
    wanted = query("names", "guids", "organization_guids")
    found = [
        space
        for space in parts().world.spaces.values()
        if access().may_read(space.guid)
        and keep(space.name, wanted["names"])
        and keep(space.guid, wanted["guids"])
        and keep(space.organization_guid, wanted["organization_guids"])
    ]
    return page_of(found, _show_space)


@routes.get("/v3/spaces/<guid>")
def space(guid: str) -> Any:
    """Show a space."""
    found = parts().world.spaces.get(guid)
    if found is None or not access().may_read(guid):
        raise not_found("Space")
    return _show_space(found)


@routes.get("/v3/apps")
def apps() -> Any:
    """List the apps that the caller may see."""
    wanted = query("names", "guids", "space_guids", "organization_guids", "label_selector")
    found = [
        app
        for app in parts().world.apps.values()
        if access().may_read(app.space_guid)
        and keep(app.name, wanted["names"])
        and keep(app.guid, wanted["guids"])
        and keep(app.space_guid, wanted["space_guids"])
    ]
    return page_of(sorted(found, key=lambda app: app.name), show_app)


@routes.get("/v3/apps/<guid>")
def app(guid: str) -> Any:
    """Show an app."""
    found = parts().world.app(guid)
    if found is None or not access().may_read(found.space_guid):
        raise not_found("App")
    return show_app(found)


@routes.get("/v3/processes")
def processes() -> Any:
    """List no processes: apps exist here, but nothing of them runs."""
    query("app_guids", "guids", "types", "space_guids", "organization_guids")
    return page_of([], _show_role)


@routes.get("/v3/roles")
def roles() -> Any:
    """List the roles that the caller may see."""
    wanted = query("guids", "types", "user_guids", "space_guids", "organization_guids")
    found = [
        role
        for role in parts().world.find_roles(
            types=wanted["types"], user_guids=wanted["user_guids"], space_guids=wanted["space_guids"]
        )
        if access().may_read(role.space_guid)
    ]
    return page_of(found, _show_role)


def _show_organization(organization: Organization) -> dict[str, Any]:
    return {**_TIMES, "guid": organization.guid, "name": organization.name, "suspended": False}


def _show_space(space: Space) -> dict[str, Any]:
    return {
        **_TIMES,
        "guid": space.guid,
        "name": space.name,
        "relationships": {"organization": {"data": {"guid": space.organization_guid}}, "quota": {"data": None}},
        "metadata": {"labels": {}, "annotations": {}},
    }


def show_app(app: App) -> dict[str, Any]:
    """Return an app as Cloud Controller shows it."""
    return {
        **_TIMES,
        "guid": app.guid,
        "name": app.name,
        "state": "STARTED",
        "lifecycle": {"type": "buildpack", "data": {"buildpacks": [], "stack": "cflinuxfs4"}},
        "relationships": {
            "space": {"data": {"guid": app.space_guid}},
            "current_droplet": {"data": {"guid": f"droplet-{app.guid}"} if app.has_droplet else None},
        },
        "metadata": {"labels": {}, "annotations": {}},
    }


def _show_role(role: Role) -> dict[str, Any]:
    return {
        **_TIMES,
        "guid": role.guid,
        "type": role.type,
        "relationships": {
            "user": {"data": {"guid": role.user_guid}},
            "space": {"data": {"guid": role.space_guid}},
            "organization": {"data": None},
        },
    }

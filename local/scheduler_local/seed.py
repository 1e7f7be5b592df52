"""The little world that both stand-ins know from the start: one organisation, two spaces, an app, a few users."""

from uuid import NAMESPACE_DNS, uuid5

CLIENT_ID = "scheduler"
CLIENT_SECRET = "scheduler-secret"  # noqa: S105  known to everybody, like all in this world
PASSWORD = "password"  # noqa: S105

ORGANIZATION = "local"
SPACE = "dev"
OTHER_SPACE = "other"
APP = "demo"

ADMIN = "admin"
DEVELOPER = "developer"
MANAGER = "manager"
AUDITOR = "auditor"
STRANGER = "stranger"

USER_SCOPES = ("cloud_controller.read", "cloud_controller.write", "openid", "uaa.user")
ADMIN_SCOPES = (*USER_SCOPES, "cloud_controller.admin", "scim.read", "scim.write")
CLIENT_SCOPES = ("cloud_controller.read", "cloud_controller.admin", "uaa.resource")

ROLES = {DEVELOPER: "space_developer", MANAGER: "space_manager", AUDITOR: "space_auditor"}  # all in SPACE


def guid_of(kind: str, name: str) -> str:
    """Return the same GUID for the same name every time, so that the stand-ins agree without talking."""
    return str(uuid5(NAMESPACE_DNS, f"{name}.{kind}.scheduler.local"))


def user_guid(name: str) -> str:
    """Return the GUID of a user, in UAA and in Cloud Controller."""
    return guid_of("user", name)

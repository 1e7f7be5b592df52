"""What the routes' query strings may hold; anything else in them is ignored."""

from scheduler_api.schemas.base import Loose
from scheduler_api.schemas.fields import MAX_GUID_CHARACTERS, Matching, Text
from scheduler_api.schemas.paging import PageQuery

_PLAIN_GUID = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}"


class AppQuery(Loose):
    """The app for which something is created."""

    app_guid = Matching(
        f"^{_PLAIN_GUID}$", "must be the GUID of an app", required=True, metadata={"description": "the app's GUID"}
    )


class SpaceQuery(PageQuery):
    """The space of which something is listed; without it the answer is 403."""

    space_guid = Text(most=MAX_GUID_CHARACTERS, metadata={"description": "the space's GUID"})

"""What the routes' query strings may hold; anything else in them is ignored."""

from scheduler.domain.states import ScheduleState
from scheduler_api.schemas.base import Loose
from scheduler_api.schemas.fields import MAX_GUID_CHARACTERS, MAX_NAME_CHARACTERS, Matching, Text, Word
from scheduler_api.schemas.paging import PageQuery, QueryFlag

_PLAIN_GUID = r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,254}"


class AppQuery(Loose):
    """The app for which something is created."""

    app_guid = Matching(
        f"^{_PLAIN_GUID}$", "must be the GUID of an app", required=True, metadata={"description": "the app's GUID"}
    )


class SpaceQuery(PageQuery):
    """The space of which something is listed; without it the answer is 403."""

    space_guid = Text(most=MAX_GUID_CHARACTERS, metadata={"description": "the space's GUID"})


class SpaceSchedulesQuery(SpaceQuery):
    """Which schedules of a space."""

    state = Word(ScheduleState)
    enabled = QueryFlag()
    q = Text(
        most=MAX_NAME_CHARACTERS, metadata={"description": "part of the expression or of the name of its job or call"}
    )

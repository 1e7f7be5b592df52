"""Who may do what where: asked of Cloud Controller for every request, so that a withdrawn role takes effect at once."""

import logging
from collections.abc import Mapping
from typing import Any

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.errors import CannotTellError, NotFoundError
from scheduler.cloudfoundry.resources import App, Role
from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.errors import Finding, InvalidInputError
from scheduler_api.usecases.errors import ForbiddenError

_log = logging.getLogger(__name__)

_NOT_A_DEVELOPER = "you are not a developer in this space, or it cannot be told at present"


class Access:
    """Space developers act in their spaces, admins everywhere; in doubt the answer is no."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def app_of(self, caller: Caller, app_guid: str) -> App:
        """Return the app, in whose space the caller may act.

        Raises InvalidInputError without such an app, ForbiddenError when the caller may not act there, or when Cloud
        Controller cannot be asked.
        """
        try:
            app = self._controller.get_app(app_guid)
        except NotFoundError:
            message = "there is no such app"
            raise InvalidInputError(Finding(code="app_not_found", message=message, field="app_guid")) from None
        except CannotTellError as error:
            _log_doubt("app", error)
            raise ForbiddenError("Cloud Controller cannot be asked about this app") from error
        self.check_space(caller, app.space_guid)
        return app

    def space_of(self, caller: Caller, query: Mapping[str, Any]) -> str:
        """Return the space that a query names, in which the caller may act.

        Raises ForbiddenError, also when none is named.
        """
        space_guid: str = query.get("space_guid") or ""
        if not space_guid:
            raise ForbiddenError("space_guid is missing: nobody may list everything")
        self.check_space(caller, space_guid)
        return space_guid

    def check_space(self, caller: Caller, space_guid: str) -> None:
        """Raise ForbiddenError unless the caller may act in this space."""
        if not self.may_act_in(caller, space_guid):
            raise ForbiddenError(_NOT_A_DEVELOPER)

    def may_act_in(self, caller: Caller, space_guid: str) -> bool:
        """Tell whether the caller is an admin, or a developer in this space."""
        return caller.is_admin or self._has_role(caller, [Role.SPACE_DEVELOPER], space_guid)

    def check_any_space(self, caller: Caller) -> None:
        """Raise ForbiddenError unless the caller is an admin, or a developer or manager in any space."""
        if not caller.is_admin and not self._has_role(caller, [Role.SPACE_DEVELOPER, Role.SPACE_MANAGER], None):
            raise ForbiddenError("you are neither developer nor manager in any space, or it cannot be told at present")

    def _has_role(self, caller: Caller, roles: list[Role], space_guid: str | None) -> bool:
        try:
            return self._controller.has_role(roles, caller.user_guid, space_guid)
        except (CannotTellError, NotFoundError) as error:
            _log_doubt("role", error)
            return False


def _log_doubt(what: str, error: Exception) -> None:
    _log.warning(
        f"Cloud Controller could not be asked about a caller's {what}; the request is refused.",
        extra={"action": f"{what}_unknown", "error": str(error)},
    )

"""The two questions that the broker has for Cloud Controller, each with "cannot tell" as a third answer."""

import logging
from typing import Protocol

from scheduler.cloudfoundry.errors import CannotTellError, NotFoundError
from scheduler.cloudfoundry.resources import App, ServiceInstance
from scheduler.cloudfoundry.uaa import GLOBAL_READ_SCOPES
from scheduler_broker.errors import CannotAskError, ConflictError, WrongSpaceError

_log = logging.getLogger(__name__)

_OCCUPIED = "the space has a scheduler service instance already, and it can have only one"


class CloudController(Protocol):
    """What is asked of Cloud Controller; both methods raise NotFoundError or CannotTellError."""

    def get_app(self, guid: str) -> App:
        """Return an app."""

    def get_service_instance(self, guid: str) -> ServiceInstance:
        """Return a service instance."""


class OwnScopes(Protocol):
    """What is asked of UAA."""

    def own_scopes(self) -> frozenset[str]:
        """Return the scopes of our own client; raises TokenUnavailableError."""


class Cloud:
    """Answers by which the broker may act."""

    def __init__(self, controller: CloudController, uaa: OwnScopes) -> None:
        self._controller = controller
        self._uaa = uaa

    def check_space_of_app(self, app_guid: str, space_guid: str) -> None:
        """Return if the app lives in the space; the request's own word on that is only a claim.

        Raises WrongSpaceError or CannotAskError.
        """
        try:
            app = self._controller.get_app(app_guid)
        except NotFoundError as error:
            raise WrongSpaceError("Cloud Controller does not know the app") from error
        except CannotTellError as error:
            _log.warning(
                f"A binding is refused, since its app cannot be looked up: {error}",
                extra={"action": "bind_undecided", "app_guid": app_guid},
            )
            raise CannotAskError("Cloud Controller could not be asked about the app; try again later") from error
        if app.space_guid != space_guid:
            raise WrongSpaceError("the app is in another space than the scheduler service instance")

    def check_purged(self, instance_guid: str) -> None:
        """Return if Cloud Controller certainly no longer knows the service instance, as after a purge.

        Raises ConflictError in any other case, doubt included. Cloud Controller also answers "not found" for what
        the asking client may not see, so its word counts only when our client may see everything.
        """
        try:
            scopes = self._uaa.own_scopes()
            if not scopes.intersection(GLOBAL_READ_SCOPES):
                self._log_doubt(instance_guid, f"our own client has none of {', '.join(GLOBAL_READ_SCOPES)}")
                raise ConflictError(_OCCUPIED)
            self._controller.get_service_instance(instance_guid)
        except NotFoundError:
            return
        except CannotTellError as error:
            self._log_doubt(instance_guid, str(error))
            raise ConflictError(_OCCUPIED) from error
        raise ConflictError(_OCCUPIED)

    def _log_doubt(self, instance_guid: str, doubt: str) -> None:
        _log.warning(
            f"A service instance is not replaced, since nobody can tell whether it was purged: {doubt}",
            extra={"action": "purge_undecided", "instance_guid": instance_guid},
        )

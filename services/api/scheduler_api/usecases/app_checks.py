"""Whether apps are gone, in Cloud Controller's own words; anything else it may say is no answer to that.

Cloud Controller also answers "not found" for apps that the asking client may not see. So nothing is concluded from its
words unless our own client can read every app, which a token fetched apart from the asking client's is to show.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Protocol

from scheduler.cloudfoundry.errors import CannotTellError, NotFoundError, TokenUnavailableError
from scheduler.cloudfoundry.resources import App
from scheduler.cloudfoundry.uaa import GLOBAL_READ_SCOPES
from scheduler.domain.errors import PermanentError, RetryableError

LOOKUPS_AT_A_TIME = 10


class ScopeMissingError(PermanentError):
    """Our own client cannot read every app, so nothing follows from an app that it does not see (500)."""


class UndecidedError(RetryableError):
    """UAA or Cloud Controller gave no answer that anything could rest on (502)."""


class AppReader(Protocol):
    """What is asked of Cloud Controller."""

    def get_app(self, guid: str) -> App:
        """Return an app; raises NotFoundError or CannotTellError."""


class OwnScopes(Protocol):
    """What is asked of UAA."""

    def own_scopes(self) -> frozenset[str]:
        """Return the scopes of our own client; raises TokenUnavailableError."""


class AppChecks:
    """Asks about apps with our own client's token."""

    def __init__(self, controller: AppReader, uaa: OwnScopes) -> None:
        self._controller = controller
        self._uaa = uaa

    def check_scopes(self) -> None:
        """Return if our own client can read every app.

        Raises ScopeMissingError or UndecidedError.
        """
        try:
            scopes = self._uaa.own_scopes()
        except TokenUnavailableError as error:
            raise UndecidedError(f"the scopes of the scheduler's own client cannot be read: {error}") from error
        if not scopes.intersection(GLOBAL_READ_SCOPES):
            first, second, third = GLOBAL_READ_SCOPES
            raise ScopeMissingError(
                f"the scheduler's own client cannot read every app: its token carries none of {first}, {second} and"
                f" {third}; grant it one of them as an authority and restart the scheduler"
            )

    def is_gone(self, app_guid: str) -> bool:
        """Tell whether Cloud Controller says that there is no such app.

        Raises UndecidedError.
        """
        try:
            self._controller.get_app(app_guid)
        except NotFoundError:
            return True
        except CannotTellError as error:
            raise UndecidedError(f"whether app {app_guid} exists cannot be told: {error}") from error
        return False

    def gone_among(self, app_guids: Iterable[str]) -> Sequence[str]:
        """Return the apps that are gone, asking about ten at a time.

        Raises UndecidedError as soon as one look-up fails: those not begun are cancelled, and nobody waits for those
        under way or cares for what they find.
        """
        threads = ThreadPoolExecutor(LOOKUPS_AT_A_TIME, thread_name_prefix="app-lookup")
        try:
            lookups = {threads.submit(self.is_gone, guid): guid for guid in app_guids}
            return [lookups[done] for done in as_completed(lookups) if done.result()]
        finally:
            threads.shutdown(wait=False, cancel_futures=True)

"""Our own token at UAA, by client credentials, kept until shortly before it ends."""

import threading
import time
from collections.abc import Callable

from scheduler.cloudfoundry.errors import CannotTellError, TokenUnavailableError
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.transport import Answer, Transport

_MARGIN_SECONDS = 60.0
_COOLDOWN_SECONDS = 1.0  # after a failure all threads hear of it, instead of queueing up to try in turn


class TokenCache:
    """One token for all threads. Clients that must not share a token have a cache each."""

    def __init__(
        self,
        settings: CloudFoundrySettings,
        transport: Transport,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = settings.uaa_endpoint.rstrip("/") + "/oauth/token"
        self._credentials = (settings.client_id, settings.client_secret)
        self._transport = transport
        self._clock = clock
        self._lock = threading.Lock()
        self._token = ""
        self._good_until = float("-inf")
        self._failure: TokenUnavailableError | None = None
        self._failed_until = float("-inf")

    def get(self) -> str:
        """Return a token that is good for a while.

        Raises TokenUnavailableError.
        """
        with self._lock:
            now = self._clock()
            if now < self._good_until:
                return self._token
            if self._failure is not None and now < self._failed_until:
                raise TokenUnavailableError(str(self._failure), status=self._failure.status)
            return self._renew()

    def discard(self, token: str) -> None:
        """Forget `token` because it was refused; a newer one stays."""
        with self._lock:
            if token == self._token:
                self._good_until = float("-inf")

    def _renew(self) -> str:
        try:
            token, seconds = self._ask()
        except TokenUnavailableError as error:
            self._failure, self._failed_until = error, self._clock() + _COOLDOWN_SECONDS
            raise
        # Tokens that live shorter than the margin are still used, for half of their time.
        self._good_until = self._clock() + max(seconds - _MARGIN_SECONDS, seconds / 2)
        self._token = token
        return token

    def _ask(self) -> tuple[str, float]:
        try:
            answer = self._transport.send(
                "POST", self._url, auth=self._credentials, form={"grant_type": "client_credentials"}
            )
        except CannotTellError as error:
            raise TokenUnavailableError(f"UAA gives no token: {error}") from error
        return _token_of(answer)


def _token_of(answer: Answer) -> tuple[str, float]:
    fields = answer.json() if answer.status == 200 else None
    if isinstance(fields, dict):
        token, seconds = fields.get("access_token"), fields.get("expires_in")
        if isinstance(token, str) and token and isinstance(seconds, int | float):
            return token, float(seconds)
    raise TokenUnavailableError(
        f"UAA gives no token: it answers {answer.status}", status=answer.status, retry_after=answer.retry_after()
    )

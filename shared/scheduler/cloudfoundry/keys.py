"""UAA's public keys and its name as an issuer, kept fresh without letting strangers make us ask too often."""

import logging
import threading
import time
from collections.abc import Callable

import jwt

from scheduler.cloudfoundry.errors import CannotTellError, UnverifiedTokenError
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.transport import Transport

_MAX_AGE_SECONDS = 300.0  # a key that UAA has withdrawn is trusted no longer than this
_FAILURE_COOLDOWN_SECONDS = 1.0

log = logging.getLogger(__name__)


class SigningKeys:
    """Public keys by key id. The last good ones stay in use while UAA does not answer."""

    def __init__(
        self,
        settings: CloudFoundrySettings,
        transport: Transport,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._uaa = settings.uaa_endpoint.rstrip("/")
        self._cooldown = settings.key_cooldown_seconds
        self._transport = transport
        self._clock = clock
        self._lock = threading.Lock()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._issuer = ""
        self._fetched_at = float("-inf")
        self._ask_again_at = float("-inf")

    def get(self, key_id: str) -> tuple[jwt.PyJWK, str]:
        """Return the key and the issuer.

        Raises UnverifiedTokenError when UAA has no such key, or cannot be asked.
        """
        key = self._keys.get(key_id)
        if key is None or self._clock() - self._fetched_at > _MAX_AGE_SECONDS:
            self._refresh(wanted=key_id)
            key = self._keys.get(key_id)
        if key is None:
            raise UnverifiedTokenError("the token's key is not known to UAA, or UAA cannot be asked")
        return key, self._issuer

    def _refresh(self, *, wanted: str) -> None:
        # Whoever has a key already does not wait for the one thread that is asking.
        if not self._lock.acquire(blocking=wanted not in self._keys):
            return
        try:
            if self._clock() >= self._ask_again_at:
                self._fetch()
        finally:
            self._lock.release()

    def _fetch(self) -> None:
        try:
            issuer = self._discover()
            keys = self._download()
        except CannotTellError as error:
            self._ask_again_at = self._clock() + _FAILURE_COOLDOWN_SECONDS
            log.warning(
                "UAA's keys could not be read, the last good ones stay in use",
                extra={"action": "keys_not_read", "error": str(error), "keys": len(self._keys)},
            )
            return
        self._issuer, self._keys = issuer, keys
        self._fetched_at = self._clock()
        self._ask_again_at = self._fetched_at + self._cooldown

    def _discover(self) -> str:
        """Ask for the issuer, since the endpoint in our settings may be an internal name."""
        answer = self._transport.get(self._uaa + "/.well-known/openid-configuration")
        fields = answer.json() if answer.status == 200 else None
        issuer = fields.get("issuer") if isinstance(fields, dict) else None
        if not isinstance(issuer, str) or not issuer:
            raise CannotTellError(f"UAA does not name its issuer: it answers {answer.status}", status=answer.status)
        return issuer

    def _download(self) -> dict[str, jwt.PyJWK]:
        answer = self._transport.get(self._uaa + "/token_keys")
        try:
            # Only RSA: a symmetric key in this set (kty MAC or oct) must never verify anything.
            rsa = [key for key in answer.json()["keys"] if key["kty"] == "RSA"]
            keys = {key["kid"]: jwt.PyJWK({**key, "alg": "RS256"}) for key in rsa if key.get("use", "sig") == "sig"}
        except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
            raise CannotTellError(f"UAA's keys are unreadable: {type(error).__name__}", status=answer.status) from error
        if answer.status != 200 or not keys:
            raise CannotTellError(f"UAA shows no keys: it answers {answer.status}", status=answer.status)
        return keys

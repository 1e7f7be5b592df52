"""Who is calling, as UAA itself confirms it; and what our own client may do.

A caller's token is believed only after all of: a valid RS256 signature by a key of UAA's, audience, issuer and
expiry; no refresh token; and UAA's own word, at `/userinfo`, on the user it belongs to, which also covers revocation
and deactivated users. Whatever goes wrong on the way, UAA being down included, is an UnverifiedTokenError.
Nothing is remembered between requests, so that revocation takes effect at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from scheduler.cloudfoundry.errors import CannotTellError, TokenUnavailableError, UnverifiedTokenError
from scheduler.cloudfoundry.keys import SigningKeys
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.cloudfoundry.tokens import TokenCache
from scheduler.cloudfoundry.transport import Bearer, Transport

ADMIN_SCOPE = "cloud_controller.admin"
GLOBAL_READ_SCOPES = (ADMIN_SCOPE, "cloud_controller.admin_read_only", "cloud_controller.global_auditor")
_AUDIENCE = "cloud_controller"
_REQUIRED_CLAIMS = ("exp", "iss", "aud", "jti")
# Beside PyJWT's own errors, odd headers and claims can make it stumble; no token may cause a 500.
_DECODE_ERRORS = (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True, kw_only=True, slots=True)
class Caller:
    """A user whose token UAA has confirmed."""

    user_guid: str  # the same in UAA and in Cloud Controller
    user_name: str
    scopes: frozenset[str]

    @property
    def is_admin(self) -> bool:
        """Tell whether the caller may act in every space."""
        return ADMIN_SCOPE in self.scopes


class Uaa:
    """UAA, asked over connections of its own; safe to share between threads."""

    def __init__(self, settings: CloudFoundrySettings, *, transport: Transport | None = None) -> None:
        self._transport = transport or Transport(settings)
        self._userinfo_url = settings.uaa_endpoint.rstrip("/") + "/userinfo"
        self._keys = SigningKeys(settings, self._transport)
        self._own_tokens = TokenCache(settings, self._transport)

    def verify(self, authorization: str | None) -> Caller:
        """Return the user behind an `Authorization` header.

        Raises UnverifiedTokenError, whatever the header holds and whatever state UAA is in.
        """
        token = _bearer_token(authorization)
        claims = self._decode(token)
        profile = self._userinfo(token)
        user_guid = profile.get("user_id")
        if not isinstance(user_guid, str) or not user_guid or user_guid != claims.get("user_id"):
            raise UnverifiedTokenError("the token's user is not the one that UAA names")
        return Caller(user_guid=user_guid, user_name=str(profile.get("user_name") or ""), scopes=_scopes(claims))

    def own_scopes(self) -> frozenset[str]:
        """Return the scopes of our own client, from a token fetched apart from the Cloud Controller client's.

        Raises TokenUnavailableError when UAA gives no token, or one that cannot be decoded.
        """
        token = self._own_tokens.get()
        try:
            # Not verified: it came straight from UAA over TLS, and nobody else chose it.
            return _scopes(jwt.decode(token, options={"verify_signature": False}))
        except (*_DECODE_ERRORS, UnverifiedTokenError) as error:
            self._own_tokens.discard(token)
            raise TokenUnavailableError("UAA's token for our own client cannot be decoded") from error

    def close(self) -> None:
        """Let the connections go."""
        self._transport.close()

    def _decode(self, token: str) -> Mapping[str, Any]:
        try:
            key_id = jwt.get_unverified_header(token).get("kid")
            if not isinstance(key_id, str):
                raise UnverifiedTokenError("the token names no key")
            key, issuer = self._keys.get(key_id)
            claims = jwt.decode(
                token, key, algorithms=["RS256"], audience=_AUDIENCE, issuer=issuer,
                options={"require": list(_REQUIRED_CLAIMS)},
            )  # fmt: skip
        except _DECODE_ERRORS as error:
            raise UnverifiedTokenError(f"the token is invalid: {type(error).__name__}") from error
        if str(claims["jti"]).endswith("-r"):
            raise UnverifiedTokenError("a refresh token is no access token")
        return claims

    def _userinfo(self, token: str) -> Mapping[str, Any]:
        try:
            answer = self._transport.get(self._userinfo_url, auth=Bearer(token))
        except CannotTellError as error:
            raise UnverifiedTokenError(f"UAA cannot be asked about the token's user: {error}") from error
        profile = answer.json() if answer.status == 200 else None
        if not isinstance(profile, dict):
            raise UnverifiedTokenError(f"UAA does not confirm the token's user: it answers {answer.status}")
        return profile


def _bearer_token(authorization: str | None) -> str:
    parts = (authorization or "").split()
    if len(parts) != 2 or parts[0].lower() != "bearer":
        raise UnverifiedTokenError("the Authorization header is not of the form: bearer TOKEN")
    return parts[1]


def _scopes(claims: Mapping[str, Any]) -> frozenset[str]:
    scopes = claims.get("scope", [])
    if not isinstance(scopes, list) or not all(isinstance(scope, str) for scope in scopes):
        raise UnverifiedTokenError("the token's scopes are unreadable")
    return frozenset(scopes)

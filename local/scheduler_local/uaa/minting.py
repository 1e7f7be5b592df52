"""Tokens with the claims that UAA puts into them."""

import time
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

import jwt

from scheduler_local.uaa.directory import TOKEN_SECONDS, Client, User
from scheduler_local.uaa.keyring import KeyRing

_CF_CLIENT = "cf"  # the client that the cf command line is


class Mint:
    """Signs tokens. `issuer` is what verifiers must find in them."""

    def __init__(self, keys: KeyRing, issuer: str) -> None:
        self._keys = keys
        self.issuer = issuer

    def user_token(
        self,
        user: User,
        *,
        scopes: Iterable[str] | None = None,
        seconds: int = TOKEN_SECONDS,
        changes: Mapping[str, Any] | None = None,
    ) -> str:
        """Return a token of a user; `changes` override its claims (null removes one)."""
        claims = self._claims(user.guid, _CF_CLIENT, user.scopes if scopes is None else scopes, seconds)
        claims |= {
            "grant_type": "password",
            "user_id": user.guid,
            "origin": "uaa",
            "user_name": user.name,
            "email": f"{user.name}@example.com",
            "auth_time": claims["iat"],
        }
        return self.sign({**claims, **(changes or {})})

    def refresh_token(self, user: User) -> str:
        """Return a refresh token: signed like any other, and never to be taken for an access token."""
        return self.user_token(user, seconds=86_400, changes={"jti": f"{uuid4().hex}-r"})

    def client_token(
        self,
        client: Client,
        *,
        scopes: Iterable[str] | None = None,
        seconds: int | None = None,
        changes: Mapping[str, Any] | None = None,
    ) -> str:
        """Return a token that belongs to a client and to no user."""
        lifetime = client.token_seconds if seconds is None else seconds
        claims = self._claims(client.name, client.name, client.scopes if scopes is None else scopes, lifetime)
        claims |= {"grant_type": "client_credentials", "authorities": claims["scope"]}
        return self.sign({**claims, **(changes or {})})

    def sign(self, claims: Mapping[str, Any]) -> str:
        """Sign claims as they are, without those that are null."""
        given = {name: value for name, value in claims.items() if value is not None}
        key = self._keys.signing
        return jwt.encode(given, key.private, algorithm="RS256", headers={"kid": key.key_id, "jku": "https://x/"})

    def read(self, token: str) -> dict[str, Any] | None:
        """Return the claims of a token that is ours and has not ended."""
        try:
            key = self._keys.find(jwt.get_unverified_header(token).get("kid", ""))
            if key is None:
                return None
            return jwt.decode(token, key.private.public_key(), algorithms=["RS256"], options={"verify_aud": False})
        except jwt.PyJWTError:
            return None

    def _claims(self, subject: str, client: str, scopes: Iterable[str], seconds: int) -> dict[str, Any]:
        now = int(time.time())
        granted = sorted(scopes)
        return {
            "jti": uuid4().hex,
            "sub": subject,
            "scope": granted,
            "client_id": client,
            "cid": client,
            "azp": client,
            "rev_sig": "5a2f6c1e",
            "iat": now,
            "exp": now + seconds,
            "iss": self.issuer,
            "zid": "uaa",
            "aud": sorted({client, *(scope.rpartition(".")[0] or scope for scope in granted)}),
        }

"""What a test may do to UAA: mint any token, add users and clients, revoke, rotate keys."""

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import Any

import jwt
from flask import Blueprint, request

from scheduler_local.uaa.directory import TOKEN_SECONDS, Client, Directory
from scheduler_local.uaa.keyring import KeyRing
from scheduler_local.uaa.minting import Mint


def add_controls(routes: Blueprint, *, directory: Directory, keys: KeyRing, mint: Mint) -> None:
    """Add UAA's own controls to the control endpoint."""

    @routes.post("/users")
    def put_user() -> Any:
        user = directory.put_user(**request.get_json())
        return {"guid": user.guid}, 201

    @routes.post("/clients")
    def put_client() -> Any:
        directory.put_client(Client(**request.get_json()))
        return {}, 201

    @routes.post("/tokens")
    def make_token() -> Any:
        wish = request.get_json()
        return {"access_token": _forged(_token(wish, directory, mint), wish, keys)}, 201

    @routes.post("/revocations")
    def revoke() -> Any:
        token = request.get_json()["token"]
        directory.revoke(jwt.decode(token, options={"verify_signature": False})["jti"])
        return {}, 201

    @routes.post("/keys")
    def rotate() -> Any:
        return {"kid": keys.rotate(**request.get_json()).key_id}, 201


def _token(wish: Mapping[str, Any], directory: Directory, mint: Mint) -> str:
    """Make a token of the user or client named in the wish, with the scopes, seconds and claims wished for."""
    options = {"scopes": wish.get("scopes"), "changes": wish.get("claims")}
    if "client" in wish:
        client = directory.client(wish["client"]) or Client(name=wish["client"], secret="")
        return mint.client_token(client, seconds=wish.get("seconds"), **options)
    user = directory.user(wish["user"]) or directory.put_user(wish["user"], scopes=wish.get("scopes") or ())
    if wish.get("refresh"):
        return mint.refresh_token(user)
    return mint.user_token(user, seconds=wish.get("seconds", TOKEN_SECONDS), **options)


def _forged(token: str, wish: Mapping[str, Any], keys: KeyRing) -> str:
    """Sign the token's claims anew in a way that no verifier may accept, if the wish names one."""
    header, payload, _ = token.split(".")
    fields = json.loads(_unpadded(header))
    if "kid" in wish:
        fields["kid"] = wish["kid"]
    algorithm = fields["alg"] = wish.get("algorithm", "RS256")
    if algorithm == "none":
        return f"{_base64(json.dumps(fields).encode())}.{payload}."
    if algorithm == "HS256":  # with the public key as its secret, which a careless verifier would accept
        signed = f"{_base64(json.dumps(fields).encode())}.{payload}"
        secret = keys.signing.public_pem().encode()
        return f"{signed}.{_base64(hmac.digest(secret, signed.encode(), hashlib.sha256))}"
    if "kid" in wish:
        claims = jwt.decode(token, options={"verify_signature": False})
        return jwt.encode(claims, keys.signing.private, algorithm="RS256", headers={"kid": wish["kid"]})
    return token


def _unpadded(text: str) -> bytes:
    return jwt.utils.base64url_decode(text)


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()

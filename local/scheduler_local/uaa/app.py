"""The routes of UAA that the scheduler and the cf command line use."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, current_app, jsonify, request

from scheduler_local.standin.control import control
from scheduler_local.uaa.control import add_controls
from scheduler_local.uaa.directory import TOKEN_SECONDS, Client, Directory, User
from scheduler_local.uaa.keyring import KeyRing
from scheduler_local.uaa.minting import Mint

_PROMPTS = {"username": ["text", "Email"], "password": ["password", "Password"]}

routes = Blueprint("uaa", __name__)


@dataclass(frozen=True)
class Parts:
    """What the routes work with."""

    directory: Directory
    keys: KeyRing
    mint: Mint


class UaaError(Exception):
    """An OAuth error."""

    def __init__(self, status: int, error: str, description: str) -> None:
        super().__init__(description)
        self.status = status
        self.error = error
        self.description = description


def create_app(*, issuer: str, folder: Path | None = None) -> Flask:
    """Build the application. `issuer` is a name; nobody connects to it."""
    app = Flask(__name__)
    keys, directory = KeyRing(folder), Directory()
    parts = Parts(directory, keys, Mint(keys, issuer))
    app.extensions["uaa"] = parts
    app.register_blueprint(routes)
    app.register_error_handler(UaaError, _show_error)

    def reset() -> None:
        directory.reset()
        keys.reset()

    controls = control(app, reset=reset)
    add_controls(controls, directory=directory, keys=keys, mint=parts.mint)
    app.register_blueprint(controls)
    return app


@routes.get("/login")
def login() -> Any:
    """Tell the cf command line what to ask its user for."""
    return {"app": {"version": "77.0.0"}, "zone_name": "uaa", "entityID": "uaa", "prompts": _PROMPTS, "links": {}}


@routes.get("/.well-known/openid-configuration")
def openid_configuration() -> Any:
    """Name the issuer."""
    return {
        "issuer": _parts().mint.issuer,
        "token_endpoint": f"{request.url_root}oauth/token",
        "userinfo_endpoint": f"{request.url_root}userinfo",
        "jwks_uri": f"{request.url_root}token_keys",
    }


@routes.get("/token_keys")
def token_keys() -> Any:
    """Show the public keys."""
    return {"keys": _parts().keys.shown()}


@routes.get("/userinfo")
def userinfo() -> Any:
    """Say whom the token belongs to, after looking at revocation and the user's state."""
    parts = _parts()
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise UaaError(401, "unauthorized", "Full authentication is required to access this resource")
    claims = parts.mint.read(token)
    if claims is None or claims["jti"].endswith("-r") or parts.directory.is_revoked(claims["jti"]):
        raise UaaError(401, "invalid_token", "Invalid access token")
    if "openid" not in claims["aud"]:
        raise UaaError(403, "access_denied", "Invalid token does not contain resource id (openid)")
    user = parts.directory.user_with_guid(claims.get("user_id", ""))
    if user is None or not user.active:
        raise UaaError(401, "invalid_token", "Invalid user ID")
    return {
        "user_id": user.guid,
        "sub": user.guid,
        "user_name": user.name,
        "email": f"{user.name}@example.com",
        "email_verified": True,
        "origin": "uaa",
    }


@routes.post("/oauth/token")
def token() -> Any:
    """Give out tokens: to clients for their secret, to users for their password or a refresh token."""
    client = _authenticated_client()
    grant = request.form.get("grant_type", "")
    if grant == "client_credentials":
        return _grant(_parts().mint.client_token(client), client.scopes, client.token_seconds)
    if grant == "password":
        return _grant_to_user(_user_by_password())
    if grant == "refresh_token":
        return _grant_to_user(_user_by_refresh_token())
    raise UaaError(400, "invalid_request", "Unsupported grant type")


def _parts() -> Parts:
    parts: Parts = current_app.extensions["uaa"]
    return parts


def _authenticated_client() -> Client:
    given = request.authorization
    name, secret = (given.username, given.password) if given and given.type == "basic" else (None, None)
    client = _parts().directory.client(name or "")
    if client is None or client.secret != (secret or ""):
        raise UaaError(401, "unauthorized", "Bad credentials")
    return client


def _user_by_password() -> User:
    user = _parts().directory.user(request.form.get("username", ""))
    if user is None or not user.active or user.password != request.form.get("password"):
        raise UaaError(401, "unauthorized", "Bad credentials")
    return user


def _user_by_refresh_token() -> User:
    claims = _parts().mint.read(request.form.get("refresh_token", ""))
    if claims is None or not claims["jti"].endswith("-r") or _parts().directory.is_revoked(claims["jti"]):
        raise UaaError(401, "invalid_token", "Invalid refresh token")
    user = _parts().directory.user_with_guid(claims["user_id"])
    if user is None or not user.active:
        raise UaaError(401, "invalid_token", "Invalid user")
    return user


def _grant_to_user(user: User) -> Any:
    mint = _parts().mint
    return _grant(mint.user_token(user), user.scopes, TOKEN_SECONDS, {"refresh_token": mint.refresh_token(user)})


def _grant(access_token: str, scopes: tuple[str, ...], seconds: int, more: Mapping[str, str] | None = None) -> Any:
    claims = _parts().mint.read(access_token) or {}
    return jsonify(
        access_token=access_token,
        token_type="bearer",  # noqa: S106  the kind of token, no secret
        expires_in=seconds,
        scope=" ".join(sorted(scopes)),
        jti=claims.get("jti", ""),
        **(more or {}),
    )


def _show_error(error: UaaError) -> Any:
    return jsonify(error=error.error, error_description=error.description), error.status

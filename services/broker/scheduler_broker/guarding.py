"""What happens around every request: version before credentials before everything else, log ids, echo, numbers."""

from flask import Flask, Response, g, request

from scheduler.runtime.logs import forget_ids, keep_ids
from scheduler.runtime.settings import Broker
from scheduler_broker.auth import VERSION_HEADER, check_credentials, check_version
from scheduler_broker.identity import ORIGINATING_IDENTITY_HEADER, user_guid
from scheduler_broker.metrics import REQUESTS
from scheduler_broker.usecases.auditing import Actor

PREFIX = "/v2"
REQUEST_IDENTITY_HEADER = "X-Broker-API-Request-Identity"
_MAX_ECHO_CHARACTERS = 255


def guard(app: Flask, settings: Broker) -> None:
    """Let only a platform of a known version with the right credentials reach paths under /v2, existing or not."""

    @app.before_request
    def check() -> None:
        if request.path != PREFIX and not request.path.startswith(f"{PREFIX}/"):
            return
        check_version(request.headers.get(VERSION_HEADER))
        check_credentials(_sent_credentials(), username=settings.username, password=settings.password)
        g.actor = Actor(guid=user_guid(request.headers.get(ORIGINATING_IDENTITY_HEADER)))
        keep_ids(user_guid=g.actor.guid, request_identity=_request_identity())


def observe(app: Flask) -> None:
    """Echo the platform's id of each request to `app`, and count requests."""

    @app.after_request
    def finish(response: Response) -> Response:
        if identity := _request_identity():
            response.headers[REQUEST_IDENTITY_HEADER] = identity
        operation = (request.endpoint or "none").rpartition(".")[2]
        REQUESTS.labels(operation=operation, status=response.status_code).inc()
        forget_ids()
        return response


def actor() -> Actor:
    """Return on whose behalf the present request is made."""
    found: Actor = g.actor
    return found


def _sent_credentials() -> tuple[str, str] | None:
    sent = request.authorization
    if sent is None or sent.type != "basic":
        return None
    return sent.username or "", sent.password or ""


def _request_identity() -> str | None:
    identity = request.headers.get(REQUEST_IDENTITY_HEADER, "")
    return identity if identity.isprintable() and 0 < len(identity) <= _MAX_ECHO_CHARACTERS else None

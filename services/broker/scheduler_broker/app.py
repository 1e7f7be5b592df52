"""The broker as a WSGI application: version before credentials before everything else, on every path under /v2."""

from typing import Any

from flask import Flask, Response, request

from scheduler.runtime.settings import Broker
from scheduler_broker.answers import answer_errors
from scheduler_broker.auth import VERSION_HEADER, check_credentials, check_version
from scheduler_broker.metrics import REQUESTS
from scheduler_broker.routes import PREFIX, broker_routes
from scheduler_broker.routes.actors import REQUEST_IDENTITY_HEADER
from scheduler_broker.usecases.bindings import Bindings
from scheduler_broker.usecases.instances import Instances

MAX_BODY_BYTES = 1024 * 1024
_MAX_ECHO_CHARACTERS = 255


def create_app(settings: Broker, instances: Instances, bindings: Bindings) -> Flask:
    """Return the application. With the broker off it still answers, by 404 under /v2, so that the process stays up."""
    app = Flask(__name__)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False
    answer_errors(app)
    app.after_request(_finish)

    @app.get("/")
    def health() -> Any:
        # Cloud Foundry allows this one second, so nobody else is asked.
        return {}

    if settings.enabled:
        _guard(app, settings)
        app.register_blueprint(broker_routes(instances, bindings, api_url=settings.api_url))
    return app


def _guard(app: Flask, settings: Broker) -> None:
    @app.before_request
    def check() -> None:
        if request.path != PREFIX and not request.path.startswith(f"{PREFIX}/"):
            return
        check_version(request.headers.get(VERSION_HEADER))
        sent = request.authorization
        is_basic = sent is not None and sent.type == "basic"
        credentials = (sent.username or "", sent.password or "") if sent is not None and is_basic else None
        check_credentials(credentials, username=settings.username, password=settings.password)


def _finish(response: Response) -> Response:
    identity = request.headers.get(REQUEST_IDENTITY_HEADER, "")
    if identity.isprintable() and 0 < len(identity) <= _MAX_ECHO_CHARACTERS:
        response.headers[REQUEST_IDENTITY_HEADER] = identity
    endpoint = (request.endpoint or "none").rpartition(".")[2]
    REQUESTS.labels(operation=endpoint, status=response.status_code).inc()
    return response

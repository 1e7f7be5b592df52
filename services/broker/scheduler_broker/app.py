"""The broker as a WSGI application, made from what is built elsewhere."""

from typing import Any

from flask import Flask

from scheduler.runtime.settings import Broker
from scheduler_broker.answers import answer_errors
from scheduler_broker.guarding import guard, observe
from scheduler_broker.routes import broker_routes
from scheduler_broker.usecases.bindings import Bindings
from scheduler_broker.usecases.instances import Instances

MAX_BODY_BYTES = 1024 * 1024


def create_app(settings: Broker, instances: Instances, bindings: Bindings) -> Flask:
    """Return the application. With the broker off it still answers, by 404 under /v2, so that the process stays up."""
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False  # it would redirect instead of saying that there is nothing
    answer_errors(app)
    observe(app)

    @app.get("/")
    def health() -> Any:
        # Cloud Foundry allows this one second, so nobody else is asked.
        return {}

    if settings.enabled:
        guard(app, settings)
        app.register_blueprint(broker_routes(instances, bindings, api_url=settings.api_url))
    return app

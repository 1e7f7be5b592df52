"""The REST API as a WSGI application, made from what is built elsewhere."""

from flask import Flask

from scheduler_api.auth import authenticate
from scheduler_api.collaborators import Collaborators
from scheduler_api.errors import answer_errors
from scheduler_api.observing import observe
from scheduler_api.operations import COLLABORATORS
from scheduler_api.reading import MAX_BODY_BYTES
from scheduler_api.routes import blueprints


def create_app(collaborators: Collaborators) -> Flask:
    """Return the application."""
    app = Flask(__name__, static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    app.url_map.merge_slashes = False  # it would redirect instead of saying that there is nothing
    app.extensions[COLLABORATORS] = collaborators
    answer_errors(app)
    observe(app)
    authenticate(app, collaborators)
    for blueprint in blueprints():
        app.register_blueprint(blueprint)
    return app

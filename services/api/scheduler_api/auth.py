"""Nothing but `GET /` is told to anybody who is not a verified user; not even whether a path exists."""

from flask import Flask, abort, g, request

from scheduler_api.collaborators import Collaborators

_BROKER_PATH = "/v2"


def authenticate(app: Flask, collaborators: Collaborators) -> None:
    """Verify the caller of each request to `app`, before its path or method are looked at."""

    @app.before_request
    def verify() -> None:
        path = request.environ["PATH_INFO"]  # request.path leaves out slashes that are too many
        if path == "/" and request.method in {"GET", "HEAD"}:
            return
        if request.path == _BROKER_PATH or request.path.startswith(f"{_BROKER_PATH}/"):
            abort(404)  # Cloud Controller must not take our 401 for the broker's (checklist 26)
        g.caller = collaborators.verify(request.headers.get("Authorization"))
        if not path.startswith("/") or path.startswith("//"):
            abort(404)

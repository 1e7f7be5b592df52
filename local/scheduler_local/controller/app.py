"""The application: gate, routes, control endpoint."""

from pathlib import Path

from flask import Flask, request

from scheduler_local.controller.access import Gate
from scheduler_local.controller.control import add_controls
from scheduler_local.controller.errors import show_errors
from scheduler_local.controller.memory import TaskJournal
from scheduler_local.controller.parts import Parts
from scheduler_local.controller.routes import apps, root, tasks
from scheduler_local.controller.running import Commands
from scheduler_local.controller.tasks import Tasks
from scheduler_local.controller.world import World
from scheduler_local.standin.control import PREFIX, control

_OPEN_PATHS = frozenset({"/", "/v3/info"})
PARALLEL = 16


def create_app(
    *, uaa: str, uaa_shown: str = "", folder: Path | None = None, auto_create: bool = False, parallel: int = PARALLEL
) -> tuple[Flask, Parts]:
    """Build the application. `uaa` is where tokens' keys are, `uaa_shown` the address that clients are told."""
    app = Flask(__name__)
    app.config["UAA_SHOWN"] = uaa_shown or uaa
    app.json.sort_keys = False  # type: ignore[attr-defined]
    found = _build_parts(folder, auto_create=auto_create, parallel=parallel)
    app.extensions["controller"] = found

    def reset() -> None:
        found.commands.reset()
        found.world.reset()
        found.tasks.reset()

    controls = control(app, reset=reset)
    _install_gate(app, Gate(found.world, uaa))
    add_controls(controls, found)
    for blueprint in (root.routes, apps.routes, tasks.routes, controls):
        app.register_blueprint(blueprint)
    show_errors(app)
    return app, found


def _build_parts(folder: Path | None, *, auto_create: bool, parallel: int) -> Parts:
    world = World(auto_create=auto_create)
    journal = TaskJournal(folder) if folder else None
    tasks = Tasks(journal.write if journal else None)
    if journal:
        journal.restore(tasks)
    return Parts(world=world, tasks=tasks, commands=Commands(tasks, world, parallel=parallel))


def _install_gate(app: Flask, gate: Gate) -> None:
    @app.before_request
    def check_token() -> None:
        if request.path not in _OPEN_PATHS and not request.path.startswith(PREFIX):
            gate.enter()

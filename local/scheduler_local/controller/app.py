"""The application: gate, routes, control endpoint."""

from dataclasses import dataclass
from pathlib import Path

from flask import Flask, request

from scheduler_local.controller.access import Gate
from scheduler_local.controller.broker_client import TIMEOUT_SECONDS, BrokerClient
from scheduler_local.controller.control import add_controls
from scheduler_local.controller.errors import show_errors
from scheduler_local.controller.jobs import Jobs
from scheduler_local.controller.memory import TaskJournal
from scheduler_local.controller.operations import Operations
from scheduler_local.controller.parts import Parts
from scheduler_local.controller.routes import apps, bindings, brokers, instances, root, tasks
from scheduler_local.controller.running import Commands
from scheduler_local.controller.services import Services
from scheduler_local.controller.tasks import Tasks
from scheduler_local.controller.world import World
from scheduler_local.standin.control import PREFIX, control

_OPEN_PATHS = frozenset({"/", "/v3/info"})
_BLUEPRINTS = (root.routes, apps.routes, tasks.routes, brokers.routes, instances.routes, bindings.routes)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What kind of Cloud Controller it is."""

    uaa: str  # where the keys of tokens are
    uaa_shown: str = ""  # the address that clients are told; empty: the same
    folder: Path | None = None
    auto_create: bool = False
    parallel: int = 16  # commands at a time
    broker_timeout_seconds: float = TIMEOUT_SECONDS
    minute_seconds: float = 60.0  # of orphan mitigation


def create_app(options: Options) -> tuple[Flask, Parts]:
    """Build the application."""
    app = Flask(__name__)
    app.config["UAA_SHOWN"] = options.uaa_shown or options.uaa
    app.json.sort_keys = False  # type: ignore[attr-defined]
    found = _build_parts(options)
    app.extensions["controller"] = found

    def reset() -> None:
        found.commands.reset()
        found.operations.stop()
        found.operations.set_minute(options.minute_seconds)
        found.world.reset()
        found.tasks.reset()
        found.services.reset()

    controls = control(app, reset=reset)
    _install_gate(app, Gate(found.world, options.uaa))
    add_controls(controls, found)
    for blueprint in (*_BLUEPRINTS, controls):
        app.register_blueprint(blueprint)
    show_errors(app)
    return app, found


def _build_parts(options: Options) -> Parts:
    world = World(folder=options.folder, auto_create=options.auto_create)
    journal = TaskJournal(options.folder) if options.folder else None
    tasks = Tasks(journal.write if journal else None)
    if journal:
        journal.restore(tasks)
    services = Services(options.folder)
    client = BrokerClient("http://api.scheduler.local", timeout=options.broker_timeout_seconds)
    return Parts(
        world=world,
        tasks=tasks,
        commands=Commands(tasks, world, parallel=options.parallel),
        services=services,
        operations=Operations(services, world, client, minute_seconds=options.minute_seconds),
        jobs=Jobs(),
    )


def _install_gate(app: Flask, gate: Gate) -> None:
    @app.before_request
    def check_token() -> None:
        if request.path not in _OPEN_PATHS and not request.path.startswith(PREFIX):
            gate.enter()

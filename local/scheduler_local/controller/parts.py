"""What the routes work with."""

from dataclasses import dataclass

from flask import current_app

from scheduler_local.controller.jobs import Jobs
from scheduler_local.controller.operations import Operations
from scheduler_local.controller.running import Commands
from scheduler_local.controller.services import Services
from scheduler_local.controller.tasks import Tasks
from scheduler_local.controller.world import World


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The stand-in's memory and its hands."""

    world: World
    tasks: Tasks
    commands: Commands
    services: Services
    operations: Operations
    jobs: Jobs


def parts() -> Parts:
    """Return the parts of the application that is serving."""
    found: Parts = current_app.extensions["controller"]
    return found

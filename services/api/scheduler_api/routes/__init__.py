"""The routes, one module per noun; where jobs and calls have the same ones, a function makes them for either."""

from collections.abc import Iterator

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.routes import calls, executions, health, history, jobs


def blueprints() -> Iterator[Blueprint]:
    """Yield everything that the application serves."""
    yield health.routes
    yield jobs.routes
    yield calls.routes
    yield executions.routes
    for kind in RefType:
        yield executions.execute_routes(kind)
        yield history.history_routes(kind)

"""The routes, one module per noun; where jobs and calls have the same ones, a function makes them for either."""

from collections.abc import Iterator

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.routes import (
    actions,
    audit_events,
    calls,
    deletion,
    executions,
    health,
    history,
    jobs,
    orphans,
    schedules,
    space_schedules,
    time_zones,
    validation,
)


def blueprints() -> Iterator[Blueprint]:
    """Yield everything that the application serves."""
    for module in (health, jobs, calls, space_schedules, validation, time_zones, executions, audit_events, orphans):
        yield module.routes
    for kind in RefType:
        yield deletion.deletion_routes(kind)
        yield executions.execute_routes(kind)
        yield schedules.schedule_routes(kind)
        yield actions.action_routes(kind)
        yield history.history_routes(kind)

"""Executions: run a job or call now, look at one execution, cancel it."""

from uuid import UUID

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.operations import Asked, Reply, operation
from scheduler_api.schemas.executions import ExecutionAnswer, WholeExecutionAnswer
from scheduler_api.schemas.idempotency import read_key

routes = Blueprint("executions", __name__)

_KEY = "Idempotency-Key"


@routes.get("/executions/<uuid:guid>")
@operation(summary="Show an execution with all that is known", answers={200: WholeExecutionAnswer}, refusals=(404,))
def show(asked: Asked, guid: UUID) -> Reply:
    """Return one execution; its state and reason are also in words."""
    return 200, asked.use.executions.find(asked.caller, guid)


@routes.post("/executions/<uuid:guid>/actions/cancel")
@operation(
    summary="Cancel an execution",
    description="A pending one is not started. A running task is cancelled at Cloud Controller, shortly afterwards."
    " A call that is under way is not interrupted, but not tried again either.",
    answers={200: WholeExecutionAnswer},
    refusals=(404, 422),
)
def cancel(asked: Asked, guid: UUID) -> Reply:
    """End an execution, or ask for its end."""
    execution = asked.use.executions.find(asked.caller, guid)
    return 200, asked.use.executions.cancel(asked.caller, execution)


def execute_routes(kind: RefType) -> Blueprint:
    """Return the route that runs a job or a call."""
    blueprint = Blueprint(f"{kind}_execute", __name__, url_prefix=f"/{kind}s/<uuid:guid>")

    @blueprint.post("/execute")
    @operation(
        summary=f"Run a {kind} now",
        description="Answers as soon as the run is stored; it goes on in the background. A body is ignored.",
        headers={_KEY: "the same key gives the same execution, answered with 200 instead of 201"},
        answers={201: ExecutionAnswer, 200: ExecutionAnswer},
        refusals=(403, 404, 422),
    )
    def execute(asked: Asked, guid: UUID) -> Reply:
        work = asked.use.works.find(asked.caller, kind, guid)
        started = asked.use.executions.execute(asked.caller, work, key=read_key(_KEY, asked.header(_KEY)))
        return 201 if started.is_new else 200, started.execution

    return blueprint

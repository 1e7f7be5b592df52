"""Finding and deleting what is left of apps, jobs and calls that are gone; for admins."""

import logging

from flask import Blueprint, Response
from werkzeug.exceptions import UnsupportedMediaType

from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.runtime.loops import describe
from scheduler.store.database import UnavailableError
from scheduler_api.errors import error_response
from scheduler_api.operations import Asked, Reply, empty_response, operation
from scheduler_api.schemas.orphans import OrphansAnswer, OrphansDeleteBody, OutcomesAnswer
from scheduler_api.usecases.app_checks import ScopeMissingError, UndecidedError
from scheduler_api.usecases.orphans import NotAdminError

_log = logging.getLogger(__name__)

routes = Blueprint("orphans", __name__)


@routes.get("/orphans")
@operation(
    summary="List jobs and calls whose app is gone, and schedules whose job or call is gone",
    description=(
        "For admins. An app counts as gone only when Cloud Controller itself says so; if it cannot be asked about one"
        " of them, there is no list. The scheduler's own client must be able to read every app."
    ),
    answers={200: OrphansAnswer},
    refusals=(502,),
    empty_refusals=(403,),
)
def find(asked: Asked) -> Reply:
    """Return everything without an owner, in every space."""
    return 200, asked.use.orphans.find(asked.caller)


@routes.post("/orphans/delete")
@operation(
    summary="Delete named orphans",
    description="For admins. Each app is asked about again, and what has an owner stays. History stays as well.",
    body=OrphansDeleteBody,
    answers={200: OutcomesAnswer},
    refusals=(400, 502),
    empty_refusals=(403,),
)
def delete(asked: Asked) -> Reply:
    """Delete those of the named jobs, calls and schedules that are orphans."""
    asked.use.orphans.require_admin(asked.caller)
    return 200, {"results": asked.use.orphans.delete(asked.caller, asked.body["guids"])}


@routes.errorhandler(NotAdminError)
def _answer_stranger(_error: NotAdminError) -> Response:
    return empty_response(403)


@routes.errorhandler(InvalidInputError)
def _answer_invalid(error: InvalidInputError) -> Response:
    return error_response(400, error.findings)


@routes.errorhandler(UnsupportedMediaType)
def _answer_no_json(_error: UnsupportedMediaType) -> Response:
    return _one(400, "bad_request", "the body must be a JSON object, sent with Content-Type: application/json")


@routes.errorhandler(ScopeMissingError)
def _answer_scope(error: ScopeMissingError) -> Response:
    _log.error(f"Orphans cannot be told: {error}", extra={"action": "orphans_scope_missing"})
    return _one(500, "scope_missing", str(error))


@routes.errorhandler(UndecidedError)
def _answer_undecided(error: UndecidedError) -> Response:
    _log.warning(f"Orphans cannot be told: {error}", extra={"action": "orphans_undecided"})
    return _one(502, "cannot_tell", str(error))


@routes.errorhandler(UnavailableError)
def _answer_unavailable(error: UnavailableError) -> Response:
    cause = describe(error.__cause__ or error)
    _log.error(f"The database does not do its work: {cause}", extra={"action": "database_unavailable"})
    return _one(500, "database_unavailable", "the scheduler's database is not available; try again later")


def _one(status: int, code: str, message: str) -> Response:
    return error_response(status, [Finding(code=code, message=message)])

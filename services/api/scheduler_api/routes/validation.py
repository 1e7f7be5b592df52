"""What the scheduler would do with an expression; nothing is stored."""

from uuid import UUID

from flask import Blueprint

from scheduler.domain.states import RefType
from scheduler_api.operations import Asked, Reply, Shown, operation
from scheduler_api.pagination import Wanted, all_of, pagination
from scheduler_api.schemas.validation import AnalysisAnswer, StoredAnalysesAnswer, ValidateBody, ref_of
from scheduler_api.usecases.errors import AbsentError
from scheduler_api.usecases.works import Work

routes = Blueprint("validation", __name__)


@routes.post("/schedules/validate")
@operation(
    summary="Check an expression, alone or for a job or call, or re-check stored schedules",
    description="An invalid expression is answered with 200 and `valid: false`. A job or call without an expression"
    " gives the analyses of its stored schedules.",
    body=ValidateBody,
    answers={200: (AnalysisAnswer, StoredAnalysesAnswer)},
    refusals=(403, 404, 415, 422),
    invalid_code="bad_request",
)
def validate(asked: Asked) -> Reply:
    """Return one analysis, or those of all schedules of the job or call."""
    wish = asked.body
    work = _work_of(asked) if wish.get("ref_guid") else None
    if work is None:
        asked.use.access.check_any_space(asked.caller)
    if work is None or wish.get("expression"):
        return 200, Shown(AnalysisAnswer, asked.use.validation.of_wish(wish, work))
    analyses = asked.use.validation.of_stored(wish, work)
    links = pagination(all_of(analyses), Wanted(), "", {})
    return 200, Shown(StoredAnalysesAnswer, {"pagination": links, "ref": ref_of(work), "resources": analyses})


def _work_of(asked: Asked) -> Work:
    kind = RefType(asked.body["ref_type"])
    try:
        return asked.use.works.find(asked.caller, kind, UUID(asked.body["ref_guid"]))
    except (AbsentError, ValueError):
        raise AbsentError(kind, code="ref_not_found") from None

"""The one place where errors become answers: JSON of one shape, never SQL, never a secret."""

import logging
from collections.abc import Iterable
from typing import Any

from flask import Flask, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from scheduler.cloudfoundry.errors import UnverifiedTokenError
from scheduler.domain.errors import Finding, InvalidInputError
from scheduler.runtime.loops import describe
from scheduler.store.database import UnavailableError
from scheduler_api.operations import json_response
from scheduler_api.schemas.errors import ErrorAnswer
from scheduler_api.usecases.errors import AbsentError, ForbiddenError

_log = logging.getLogger(__name__)

_ANSWER = ErrorAnswer()
_RETRY_SECONDS = "5"
# Werkzeug's own words say things about URLs and browsers.
_SENTENCES = {
    400: ("bad_request", "the request cannot be read"),
    404: ("not_found", "there is nothing at this path"),
    405: ("method_not_allowed", "this path does not serve that method"),
    413: ("body_too_large", "the body is larger than 1 MiB"),
    415: ("unsupported_media_type", "send JSON, with the header Content-Type: application/json"),
}


def answer_errors(app: Flask) -> None:
    """Let `app` answer every error in that shape, those included that it did not expect."""
    app.register_error_handler(UnverifiedTokenError, _answer_unverified)
    app.register_error_handler(ForbiddenError, _answer_forbidden)
    app.register_error_handler(AbsentError, _answer_absent)
    app.register_error_handler(InvalidInputError, _answer_invalid)
    app.register_error_handler(UnavailableError, _answer_unavailable)
    app.register_error_handler(HTTPException, _answer_http)
    app.register_error_handler(Exception, _answer_unexpected)


def error_response(status: int, findings: Iterable[Finding], warnings: Iterable[Finding] = ()) -> Response:
    """Return an error of one or more findings."""
    content: dict[str, Any] = _ANSWER.dump({"errors": list(findings), "warnings": list(warnings)})
    return json_response(status, content)


def _answer_unverified(error: UnverifiedTokenError) -> Response:
    _log.info(f"A token was refused: {error.reason}", extra={"action": "token_refused"})
    response = _one(401, "unauthorized", "a token of a Cloud Foundry user is needed: Authorization: bearer TOKEN")
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _answer_forbidden(error: ForbiddenError) -> Response:
    return _one(403, error.code, error.message)


def _answer_absent(error: AbsentError) -> Response:
    return _one(404, error.code, error.message)


def _answer_invalid(error: InvalidInputError) -> Response:
    return error_response(422, error.findings, error.warnings)


def _answer_unavailable(error: UnavailableError) -> Response:
    cause = describe(error.__cause__ or error)
    _log.error(f"The database does not do its work: {cause}", extra={"action": "database_unavailable"})
    response = _one(503, "database_unavailable", "the scheduler's database is not available; try again later")
    response.headers["Retry-After"] = _RETRY_SECONDS
    return response


def _answer_http(error: HTTPException) -> Response:
    status = error.code or 500
    code, sentence = _SENTENCES.get(status) or ("http_error", error.name.lower())
    response = _one(status, code, sentence)
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def _answer_unexpected(error: Exception) -> Response:
    _log.error("A request failed.", exc_info=error, extra={"action": "request_failed", "method": request.method})
    return _one(500, "internal_error", "the scheduler failed; its log says why, under the X-Request-Id of this answer")


def _one(status: int, code: str, message: str) -> Response:
    return error_response(status, [Finding(code=code, message=message)])

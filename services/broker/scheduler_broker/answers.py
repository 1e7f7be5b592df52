"""Every error as the Open Service Broker specification wants it: `{"error"?, "description"}`, never without words."""

import logging
from typing import Any

from flask import Flask, Response, jsonify
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from scheduler.runtime.loops import describe
from scheduler.store.database import ContentionError, UnavailableError
from scheduler_broker import errors

_log = logging.getLogger(__name__)

_STATUSES: dict[type[errors.BrokerError], int] = {
    errors.MalformedRequestError: 400,
    errors.WrongSpaceError: 400,
    errors.UnauthorizedError: 401,
    errors.UnknownInstanceError: 404,
    errors.ConflictError: 409,
    errors.GoneError: 410,
    errors.OldVersionError: 412,
    errors.PlanChangeError: 422,
    errors.ConcurrencyError: 422,
    errors.CannotAskError: 502,
}
_DESCRIPTIONS = {
    404: "there is no such route",
    405: "this route does not serve that method",
    413: "the body is too large",
}


def answer_errors(app: Flask) -> None:
    """Let `app` answer every error in that shape, those included that it did not expect."""
    app.register_error_handler(errors.BrokerError, _refuse)
    app.register_error_handler(HTTPException, _answer_http)
    app.register_error_handler(ContentionError, _answer_contention)
    app.register_error_handler(UnavailableError, _answer_unavailable)
    app.register_error_handler(Exception, _answer_unexpected)


def _refuse(error: errors.BrokerError) -> Response:
    code = "ConcurrencyError" if isinstance(error, errors.ConcurrencyError) else None
    response = _answer(_STATUSES[type(error)], str(error), code)
    if isinstance(error, errors.UnauthorizedError):
        _log.warning("A request with wrong credentials was refused.", extra={"action": "broker_unauthorized"})
        response.headers["WWW-Authenticate"] = 'Basic realm="scheduler service broker", charset="UTF-8"'
    return response


def _answer_http(error: HTTPException) -> Response:
    status = error.code or 500
    response = _answer(status, _DESCRIPTIONS.get(status) or error.name.lower())
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return response


def _answer_contention(_error: ContentionError) -> Response:
    return _refuse(errors.ConcurrencyError("another operation on the same things is under way; try again"))


def _answer_unavailable(error: UnavailableError) -> Response:
    cause = describe(error.__cause__ or error)
    _log.error(f"The database does not do its work: {cause}", extra={"action": "database_unavailable"})
    return _answer(503, "the scheduler's database is not available; try again later")


def _answer_unexpected(error: Exception) -> Response:
    _log.error("A request failed.", exc_info=error, extra={"action": "broker_request_failed"})
    return _answer(500, "the scheduler's service broker failed; its log says why")


def _answer(status: int, description: str, code: str | None = None) -> Response:
    body: dict[str, Any] = {"error": code, "description": description} if code else {"description": description}
    response = jsonify(body)
    response.status_code = status
    return response

"""Errors with the codes, titles and statuses of the real Cloud Controller."""

from typing import Any

from flask import Flask, jsonify


class ControllerError(Exception):
    """An answer that is no success."""

    def __init__(self, status: int, code: int, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail

    def as_json(self) -> dict[str, Any]:
        """Return the error as an element of `errors`."""
        return {"code": self.code, "title": self.title, "detail": self.detail}


def not_found(what: str) -> ControllerError:
    """Return what is said both of things that do not exist and of those that the caller may not see."""
    return ControllerError(404, 10010, "CF-ResourceNotFound", f"{what} not found")


def unprocessable(detail: str) -> ControllerError:
    """Return a refusal of a request's contents."""
    return ControllerError(422, 10008, "CF-UnprocessableEntity", detail)


def bad_query(detail: str) -> ControllerError:
    """Return a refusal of a request's query."""
    return ControllerError(400, 10005, "CF-BadQueryParameter", f"The query parameter is invalid: {detail}")


def forbidden() -> ControllerError:
    """Return what is said to those who may see a thing but not change it."""
    return ControllerError(403, 10003, "CF-NotAuthorized", "You are not authorized to perform the requested action")


def show_errors(app: Flask) -> None:
    """Make every failure of `app` look like Cloud Controller's."""
    unknown = ControllerError(404, 10000, "CF-NotFound", "Unknown request")
    unreadable = ControllerError(400, 1001, "CF-MessageParseError", "Request invalid due to parse error")

    def show(error: ControllerError) -> Any:
        return jsonify(errors=[error.as_json()]), error.status

    app.register_error_handler(ControllerError, show)
    app.register_error_handler(404, lambda _: show(unknown))
    app.register_error_handler(405, lambda _: show(unknown))
    app.register_error_handler(400, lambda _: show(unreadable))
    app.register_error_handler(415, lambda _: show(unreadable))
    app.register_error_handler(KeyError, lambda missing: show(unprocessable(f"{missing} must be present")))

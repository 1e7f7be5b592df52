"""What a route takes and gives: read and written by these schemas, and described by them in the OpenAPI document."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from typing import Any, ParamSpec, TypeVar

from flask import Response, current_app, g, request
from marshmallow import Schema, ValidationError

from scheduler.cloudfoundry.uaa import Caller
from scheduler.domain.errors import InvalidInputError
from scheduler_api.collaborators import Collaborators
from scheduler_api.pagination import Part, Wanted, pagination, wanted_from
from scheduler_api.reading import read_object
from scheduler_api.schemas.findings import as_invalid_input, with_code

COLLABORATORS = "scheduler_api"
P = ParamSpec("P")
T = TypeVar("T", bound=Schema)


@dataclass(frozen=True)
class Shown:
    """A value, and which of several schemas shows it."""

    schema: type[Schema]
    value: Any


@dataclass(frozen=True, kw_only=True)
class Operation:
    """One route, as its users see it. `collection`: the successful answer holds many of its schema."""

    summary: str
    description: str = ""
    query: type[Schema] | None = None
    body: type[Schema] | None = None
    body_may_be_empty: bool = False
    answers: Mapping[int, type[Schema] | tuple[type[Schema], ...] | None]
    collection: bool = False
    refusals: tuple[int, ...] = ()  # statuses of errors, beside those that any route may answer
    empty_refusals: tuple[int, ...] = ()  # those whose answer has no body
    headers: Mapping[str, str] | None = None  # request headers and what they do
    invalid_code: str = ""  # the code of everything that is wrong with the request, where old clients expect one


class Asked:
    """A request to one operation, read piece by piece as the route asks for it."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation

    @property
    def caller(self) -> Caller:
        """The user who asks."""
        caller: Caller = g.caller
        return caller

    @property
    def use(self) -> Collaborators:
        """What the application is made of."""
        collaborators: Collaborators = current_app.extensions[COLLABORATORS]
        return collaborators

    @cached_property
    def query(self) -> Mapping[str, Any]:
        """The query string's known parameters; raises InvalidInputError."""
        assert self._operation.query is not None
        return _load(_schema(self._operation.query), request.args.to_dict())

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """The body's known fields; raises InvalidInputError and what HTTP has for it."""
        assert self._operation.body is not None
        try:
            sent = read_object(request, may_be_empty=self._operation.body_may_be_empty)
            return _load(_schema(self._operation.body), sent)
        except InvalidInputError as error:
            raise with_code(error, self._operation.invalid_code) from None

    @cached_property
    def wanted(self) -> Wanted:
        """The part of a collection; everything where the route knows no parts."""
        return Wanted() if self._operation.query is None else wanted_from(self.query)

    def header(self, name: str) -> str | None:
        """Return a header of the request."""
        return request.headers.get(name)


Reply = tuple[int, Any]


def operation(**facts: Any) -> Callable[[Callable[..., Reply]], Callable[..., Response]]:
    """Make a function that takes an Asked and returns a status and a value into a view; `facts` make its Operation."""
    described = Operation(**facts)

    def decorate(function: Callable[..., Reply]) -> Callable[..., Response]:
        @wraps(function)
        def view(**arguments: Any) -> Response:
            asked = Asked(described)
            return _reply(described, asked, *function(asked, **arguments))

        view.operation = described  # type: ignore[attr-defined]
        return view

    return decorate


def operation_of(view: Callable[..., Any]) -> Operation | None:
    """Return what `operation` said about a view."""
    return getattr(view, "operation", None)


def json_response(status: int, content: Any) -> Response:
    """Return a JSON answer."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Response(text + "\n", status, mimetype="application/json")


def empty_response(status: int) -> Response:
    """Return an answer without a body."""
    response = Response(status=status)
    del response.headers["Content-Type"]
    return response


def _reply(described: Operation, asked: Asked, status: int, value: Any) -> Response:
    schema = described.answers[status]
    if schema is None:
        return empty_response(status)
    if isinstance(value, Shown):
        return json_response(status, _schema(value.schema).dump(value.value))
    assert not isinstance(schema, tuple)
    if not isinstance(value, Part):
        return json_response(status, _schema(schema).dump(value))
    links = pagination(value, asked.wanted, _own_url(), request.args.to_dict())
    return json_response(status, {"pagination": links, "resources": _schema(schema).dump(value.rows, many=True)})


def _own_url() -> str:
    """Return the URL that was asked for, as its user has it: TLS may end at a router before us."""
    is_https = request.headers.get("X-Forwarded-Proto", "").lower() == "https"
    return request.base_url.replace("http://", "https://", 1) if is_https else request.base_url


@cache
def _schema(kind: type[T]) -> T:
    return kind()


def _load(schema: Schema, data: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        loaded: Mapping[str, Any] = schema.load(data)
    except ValidationError as error:
        raise as_invalid_input(error) from None
    return loaded

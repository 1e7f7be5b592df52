"""The OpenAPI 3.1 document: every route of the application, as its operation describes it."""

import re
from collections.abc import Iterator
from typing import Any

from apispec import APISpec
from flask import Flask
from marshmallow import Schema
from werkzeug.routing import Rule

from scheduler import __version__
from scheduler_api.openapi.errors import ALWAYS, STATUSES, error_responses
from scheduler_api.openapi.schemas import new_plugin, teach
from scheduler_api.operations import Operation, operation_of
from scheduler_api.routes import blueprints
from scheduler_api.schemas.errors import ErrorAnswer
from scheduler_api.schemas.paging import PaginationAnswer

_DESCRIPTION = (
    "Runs Cloud Foundry tasks (jobs) and HTTP requests (calls) on timetables. Every route but `GET /` wants a UAA token"
    " of a user; space developers act in their spaces, and `cloud_controller.admin` everywhere."
)
_PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")


def new_document() -> dict[str, Any]:
    """Return the document of the whole API."""
    app = Flask(__name__, static_folder=None)
    for blueprint in blueprints():
        app.register_blueprint(blueprint)
    return document_of(app)


def document_of(app: Flask) -> dict[str, Any]:
    """Return the document of what an application serves."""
    plugin = new_plugin()
    spec = APISpec(
        title="OCF Scheduler",
        version=__version__,
        openapi_version="3.1.0",
        plugins=[plugin],
        info={"description": _DESCRIPTION, "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        security=[{"uaa": []}],
    )
    teach(plugin.converter)
    _add_components(spec)
    writer = _Writer(spec, plugin.converter)
    for rule, described in _operations(app):
        writer.add(rule, described)
    document: dict[str, Any] = spec.to_dict()
    return document


def _operations(app: Flask) -> Iterator[tuple[Rule, Operation]]:
    for rule in app.url_map.iter_rules():
        described = operation_of(app.view_functions[rule.endpoint])
        if described is not None:
            yield rule, described


def _add_components(spec: APISpec) -> None:
    token = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "what `cf oauth-token` prints"}
    spec.components.security_scheme("uaa", token)
    spec.components.schema("Error", schema=ErrorAnswer)
    spec.components.schema("Pagination", schema=PaginationAnswer)
    header = {"description": "Ties the answer to the scheduler's log lines.", "schema": {"type": "string"}}
    spec.components.header("RequestId", header)
    for name, response in error_responses().items():
        spec.components.response(name, response)


class _Writer:
    def __init__(self, spec: APISpec, converter: Any) -> None:
        self._spec = spec
        self._converter = converter
        self._collections: set[str] = set()

    def add(self, rule: Rule, described: Operation) -> None:
        """Add one route."""
        path = _PARAMETER.sub(r"{\2}", rule.rule)
        methods = (rule.methods or set()) - {"HEAD", "OPTIONS"}
        for method in methods:
            self._spec.path(path=path, operations={method.lower(): self._operation(rule, described, path)})

    def _operation(self, rule: Rule, described: Operation, path: str) -> dict[str, Any]:
        operation: dict[str, Any] = {
            "operationId": rule.endpoint.replace(".", "_"),
            "summary": described.summary,
            "tags": [path.split("/")[1] or "health"],
            "parameters": [*self._path_parameters(rule), *self._parameters(described)],
            "responses": self._responses(described, is_open=path == "/"),
        }
        if described.description:
            operation["description"] = described.description
        if path == "/":
            operation["security"] = []
        if described.body is not None:
            content = {"application/json": {"schema": self._ref(described.body)}}
            operation["requestBody"] = {"required": not described.body_may_be_empty, "content": content}
        return operation

    def _path_parameters(self, rule: Rule) -> Iterator[dict[str, Any]]:
        for _, name in _PARAMETER.findall(rule.rule):
            yield {"name": name, "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}

    def _parameters(self, described: Operation) -> Iterator[dict[str, Any]]:
        fields = described.query().fields if described.query else {}
        for name, field in fields.items():
            schema = self._converter.field2property(field)
            parameter = {"name": name, "in": "query", "required": field.required, "schema": schema}
            if schema.get("type") == "array":
                parameter |= {"style": "form", "explode": False}
            yield parameter
        for name, meaning in (described.headers or {}).items():
            schema = {"type": "string", "pattern": "^[!-~]{1,255}$"}
            yield {"name": name, "in": "header", "description": meaning, "schema": schema}

    def _responses(self, described: Operation, *, is_open: bool) -> dict[str, Any]:
        refusals = {500} if is_open else {*ALWAYS, *described.refusals}
        if described.body is not None:
            refusals |= {400, 413}
        responses: dict[str, Any] = {str(status): self._response(described, status) for status in described.answers}
        responses |= {str(status): f"Error{status}" for status in sorted(refusals)}
        return responses | {str(status): {"description": STATUSES[status][0]} for status in described.empty_refusals}

    def _response(self, described: Operation, status: int) -> dict[str, Any]:
        schema = described.answers[status]
        response: dict[str, Any] = {
            "description": {200: "Done.", 201: "Created.", 204: "Deleted."}[status],
            "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
        }
        if schema is None:
            return response
        if isinstance(schema, tuple):
            shown = {"oneOf": [self._ref(each) for each in schema]}
        else:
            shown = self._collection(schema) if described.collection else self._ref(schema)
        return {**response, "content": {"application/json": {"schema": shown}}}

    def _ref(self, schema: type[Schema]) -> dict[str, Any]:
        reference: dict[str, Any] = self._converter.resolve_nested_schema(schema)
        return reference

    def _collection(self, schema: type[Schema]) -> dict[str, Any]:
        item = self._ref(schema)
        name = item["$ref"].rpartition("/")[2] + "Collection"
        if name not in self._collections:
            self._collections.add(name)
            properties = {
                "pagination": {"$ref": "#/components/schemas/Pagination"},
                "resources": {"type": "array", "items": item},
            }
            envelope = {"type": "object", "required": ["pagination", "resources"], "properties": properties}
            self._spec.components.schema(name, envelope)
        return {"$ref": f"#/components/schemas/{name}"}

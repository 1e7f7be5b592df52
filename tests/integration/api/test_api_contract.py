"""The application against its own description: nothing undocumented, nothing of the wrong shape, never our fault.

A short run; `make fuzz` makes a long one against a running service.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine

from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.runtime.settings import Service, read_settings
from scheduler_api.app import create_app
from scheduler_api.openapi.document import new_document
from scheduler_api.openapi.pages import as_text
from scheduler_api.wsgi import assemble
from scheduler_local import seed
from scheduler_local.testing import StandInController, StandInUaa
from tests.fixtures.api import NOBODY, Api
from tests.fixtures.contract import CHECKS
from tests.fixtures.world import World

_EXAMPLES = 4


def test_the_committed_document_is_the_present_one() -> None:
    committed = Path("docs/openapi.json").read_text(encoding="utf-8")
    assert committed == as_text(), "write it anew: python -m scheduler_api.openapi > docs/openapi.json"


def test_every_route_is_described_with_its_errors() -> None:
    document = new_document()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"]
            if path != "/":
                assert {"401", "500", "503"} <= set(operation["responses"]), f"{method} {path}"
    assert len(document["paths"]) >= 33


def test_every_field_that_is_sent_has_limits() -> None:
    schemas = new_document()["components"]["schemas"]
    bodies = {name: schema for name, schema in schemas.items() if name.endswith(("Body", "Patch"))}
    assert len(bodies) >= 14
    for name, schema in bodies.items():
        for field, rule in schema["properties"].items():
            kinds = {rule["type"]} if isinstance(rule.get("type"), str) else set(rule.get("type", ()))
            if "string" in kinds and "enum" not in rule:
                assert {"maxLength", "pattern", "format"} & set(rule), f"{name}.{field}"
            if kinds & {"integer", "number"}:
                assert {"minimum", "maximum"} <= set(rule), f"{name}.{field}"
            if "array" in kinds and name != "OrphansDeleteBody":  # as many as a body holds
                assert "maxItems" in rule, f"{name}.{field}"


# Of the module, not of the session: tests of other modules, which may come in between, empty what they share with it.
@pytest.fixture(scope="module")
def served(
    shared_engine: Engine, uaa_process: StandInUaa, controller_process: StandInController
) -> Iterator[tuple[Api, World]]:
    """The application, and things in it that exist."""
    uaa_process.reset()
    controller_process.reset()
    variables = {
        "DATABASE_URL": shared_engine.url.render_as_string(hide_password=False),
        "CF_ENDPOINT": controller_process.url,
        "UAA_ENDPOINT": uaa_process.url,
        "CLIENT_ID": seed.CLIENT_ID,
        "CLIENT_SECRET": seed.CLIENT_SECRET,
    }
    cloud_foundry = CloudFoundrySettings(
        cf_endpoint=controller_process.url,
        uaa_endpoint=uaa_process.url,
        client_id=seed.CLIENT_ID,
        client_secret=seed.CLIENT_SECRET,
    )
    collaborators = assemble(read_settings(Service.API, variables), shared_engine, cloud_foundry)
    api = Api(create_app(collaborators), uaa_process)

    def ask(method: str, path: str, body: Any) -> tuple[int, Any]:
        answer = api.ask(method, path, body)
        return answer.status_code, answer.json

    yield api, World(ask, controller_process.add_app())
    collaborators.close()


contract = schemathesis.openapi.from_dict(new_document())
contract.config.phases.coverage.enabled = False  # the long run goes over every boundary of every field


@pytest.mark.parametrize("user", [seed.DEVELOPER, seed.ADMIN, seed.STRANGER, NOBODY])
@contract.parametrize()
@settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_made_up_requests_get_documented_answers(case: Any, user: str, served: tuple[Api, World]) -> None:
    api, world = served
    world.lead(case)
    response = case.call(app=api.app, headers={"Authorization": api.authorization(user)} if user else {})
    case.validate_response(response, checks=CHECKS)

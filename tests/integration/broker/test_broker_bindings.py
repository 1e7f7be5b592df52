"""Binding apps and handing out service keys."""

from typing import Any

import pytest
from sqlalchemy import Engine

from scheduler.cloudfoundry.errors import CannotTellError
from scheduler.store.bindings import is_bound
from scheduler.testing.factories import APP
from tests.integration.broker.platform import API_URL, PASSWORD, FakeCloudFoundry, Platform
from tests.integration.broker.rows import bindings, state

OTHER_APP = "11111111-aaaa-4bbb-8ccc-000000000099"
OTHER_SPACE = "22222222-aaaa-4bbb-8ccc-000000000099"


@pytest.fixture
def instance(broker: Platform) -> str:
    broker.provision("instance")
    return "instance"


def _is_bound(engine: Engine, app: str = APP) -> bool:
    with engine.begin() as connection:
        return is_bound(connection, app)


def test_an_app_gets_url_instance_and_its_own_guid_and_no_secret(
    broker: Platform, engine: Engine, instance: str
) -> None:
    # checklist 199, 200, 201
    answer = broker.bind(instance, "binding")
    assert answer.status_code == 201
    assert answer.get_json() == {"credentials": {"api_url": API_URL, "instance_id": instance, "app_guid": APP}}
    assert PASSWORD not in answer.get_data(as_text=True)
    assert _is_bound(engine)


def test_a_service_key_gets_url_and_instance_and_binds_no_app(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 203, 208
    answer = broker.bind(instance, "key", app=None)
    assert answer.status_code == 201
    assert answer.get_json() == {"credentials": {"api_url": API_URL, "instance_id": instance}}
    assert not _is_bound(engine)


@pytest.mark.parametrize(
    "resource", [{}, {"credential_client_id": "a-client"}, {"app_guid": None}, {"space_guid": "x"}, None]
)
def test_whatever_else_a_key_names_it_is_still_a_key(
    broker: Platform, instance: str, resource: dict[str, object] | None
) -> None:
    # checklist 204
    answer = broker.bind(instance, "key", app=None, bind_resource=resource)
    assert set(answer.get_json()["credentials"]) == {"api_url", "instance_id"}


@pytest.mark.parametrize(
    "body",
    [
        {"bind_resource": {"app_guid": APP}, "app_guid": None},
        {"bind_resource": None, "app_guid": APP},
        {"bind_resource": {}, "app_guid": APP},
        {"bind_resource": {"app_guid": APP}, "app_guid": OTHER_APP},
    ],
)
def test_the_app_is_named_in_either_place(broker: Platform, instance: str, body: dict[str, Any]) -> None:
    # checklist 205
    assert broker.bind(instance, "binding", **body).get_json()["credentials"]["app_guid"] == APP


def test_the_same_binding_again_is_200_with_the_same_credentials(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, instance: str
) -> None:
    # checklist 206
    made = broker.bind(instance, "binding")
    before = state(engine)
    cloud.fault = CannotTellError("down")  # what is stored need not be asked about again
    again = broker.bind(instance, "binding", parameters={"ignored": True})
    assert (again.status_code, again.get_json()) == (200, made.get_json())
    assert state(engine) == before


def test_the_same_binding_id_with_other_attributes_is_409(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, instance: str
) -> None:
    # checklist 206
    cloud.apps[OTHER_APP] = cloud.apps[APP]
    broker.provision("other", OTHER_SPACE)
    broker.bind(instance, "binding")
    before = state(engine)
    for answer in (
        broker.bind(instance, "binding", app=OTHER_APP),
        broker.bind(instance, "binding", app=None),
        broker.bind("other", "binding", app=None),
    ):
        assert answer.status_code == 409
        assert answer.get_json()["description"]
    assert state(engine) == before


def test_binding_to_an_unknown_instance_is_404(broker: Platform, engine: Engine) -> None:
    # checklist 207
    answer = broker.bind("unknown", "binding")
    assert answer.status_code == 404
    assert answer.get_json()["description"]
    assert bindings(engine) == []


def test_an_app_of_another_space_is_refused_whatever_the_request_claims(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, instance: str
) -> None:
    # checklist 202
    cloud.apps[APP] = OTHER_SPACE
    answer = broker.bind(instance, "binding")
    assert answer.status_code == 400
    assert "another space" in answer.get_json()["description"]
    assert bindings(engine) == []


def test_an_app_that_is_not_there_is_refused(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, instance: str
) -> None:
    # checklist 202
    cloud.apps.clear()
    assert broker.bind(instance, "binding").status_code == 400
    assert bindings(engine) == []


def test_without_an_answer_of_cloud_controller_no_app_is_bound_and_it_may_be_tried_again(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, instance: str
) -> None:
    cloud.fault = CannotTellError("Cloud Controller answers 503", status=503)
    answer = broker.bind(instance, "binding")
    assert answer.status_code == 502
    assert answer.get_json()["description"]
    assert bindings(engine) == []
    assert broker.bind(instance, "key", app=None).status_code == 201
    cloud.fault = None
    assert broker.bind(instance, "binding").status_code == 201


def test_unbinding_answers_an_empty_object(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 209
    broker.bind(instance, "binding")
    answer = broker.unbind(instance, "binding")
    assert (answer.status_code, answer.get_json()) == (200, {})
    assert not _is_bound(engine)


def test_a_binding_is_not_found_under_another_instance(broker: Platform, engine: Engine, instance: str) -> None:
    # checklist 210
    broker.provision("other", OTHER_SPACE)
    broker.bind(instance, "binding")
    assert broker.unbind("other", "binding").status_code == 410
    assert bindings(engine) == ["binding"]


def test_binding_is_by_guid_so_the_same_name_elsewhere_stays_unbound(
    broker: Platform, engine: Engine, instance: str
) -> None:
    # checklist 240
    broker.bind(instance, "binding")
    assert not _is_bound(engine, OTHER_APP)

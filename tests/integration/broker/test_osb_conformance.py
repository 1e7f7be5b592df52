"""The cases of the Open Service Broker conformance checkers, on every route.

What must be refused before anything is looked up is asked of a broker without a database.
"""

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from werkzeug.test import TestResponse

from scheduler_broker.catalog import CATALOG, PLAN_ID, SERVICE_ID
from tests.integration.broker.platform import (
    OFFERING,
    Platform,
    basic,
    binding_body,
    headers,
    identity,
    instance_body,
)

INSTANCE = "/v2/service_instances/instance-1"
BINDING = f"{INSTANCE}/service_bindings/binding-1"
ROUTES = [
    ("GET", "/v2/catalog"),
    ("PUT", INSTANCE),
    ("PATCH", INSTANCE),
    ("DELETE", INSTANCE),
    ("PUT", BINDING),
    ("DELETE", BINDING),
    ("GET", INSTANCE),
    ("GET", BINDING),
    ("GET", f"{INSTANCE}/last_operation"),
    ("GET", f"{BINDING}/last_operation"),
    ("POST", "/v2/catalog"),
    ("OPTIONS", INSTANCE),
    ("GET", "/v2"),
    ("GET", "/v2/nowhere"),
    ("GET", "/v2/%2e%2e/catalog"),
]
BODIES = {"instance": instance_body(), "binding": binding_body()}


def _assert_refused(answer: TestResponse, status: int) -> None:
    # checklist 225
    assert answer.status_code == status, answer.get_data(as_text=True)
    assert answer.content_type == "application/json"
    body = json.loads(answer.data)
    assert set(body) <= {"error", "description"}
    assert all(isinstance(value, str) and value for value in body.values())
    assert "description" in body


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "version",
    [None, "", "2.12", "1.9", "1.14", "3.0", "2", "2.", ".13", "abc", "2.13.1", "2.x", "-2.13", "2,13", "2.14, 2.15"],
)
@pytest.mark.parametrize("authorization", [None, basic(), basic(password="wrong")])
def test_a_missing_or_older_version_is_412_whatever_the_credentials(
    offline: Platform, method: str, path: str, version: str | None, authorization: str | None
) -> None:
    # checklist 179, 180, 182, 185
    sent = headers(X_Broker_Api_Version=version, Authorization=authorization)
    _assert_refused(offline.ask(method, path, headers=sent), 412)


@pytest.mark.parametrize("version", ["2.13", "2.14", "2.15", "2.16", "2.17", "2.100"])
def test_later_versions_are_accepted(offline: Platform, version: str) -> None:
    # checklist 181, 182
    assert offline.ask("GET", "/v2/catalog", headers=headers(X_Broker_Api_Version=version)).status_code == 200


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        basic(password="wrong"),
        basic(username="wrong"),
        basic(password=""),
        "Basic",
        "Basic !!!",
        "Basic " + "YWJj",
        "Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln",
        basic().replace("Basic", "Bearer"),
        basic("usér", "pässword"),
    ],
)
def test_wrong_or_missing_credentials_are_401_on_every_route(
    offline: Platform, method: str, path: str, authorization: str | None
) -> None:
    # checklist 183, 184, 185
    answer = offline.ask(method, path, headers=headers(Authorization=authorization))
    _assert_refused(answer, 401)
    assert answer.headers["WWW-Authenticate"].startswith("Basic ")


def test_the_scheme_of_the_credentials_may_be_written_in_lower_case(offline: Platform) -> None:
    assert (
        offline.ask("GET", "/v2/catalog", headers=headers(Authorization=basic().replace("B", "b", 1))).status_code
        == 200
    )


def test_the_catalog_is_one_free_plan_of_one_service(offline: Platform) -> None:
    # checklist 186, 188
    answer = offline.ask("GET", "/v2/catalog")
    assert answer.content_type == "application/json"
    (service,) = answer.get_json()["services"]
    (plan,) = service["plans"]
    assert (service["name"], plan["name"], plan["free"]) == ("scheduler", "standard", True)
    assert service["bindable"] is True
    assert service["plan_updateable"] is False
    assert service["metadata"]["shareable"] is False
    assert all(isinstance(each[name], str) and each[name] for each in (service, plan) for name in ("id", "description"))
    # checklist 230: what is not served is not declared
    assert not service["instances_retrievable"]
    assert not service["bindings_retrievable"]


def test_the_ids_of_the_catalog_never_change(offline: Platform) -> None:
    # checklist 187, 306: brokers in the field are registered with exactly these
    (service,) = offline.ask("GET", "/v2/catalog").get_json()["services"]
    assert service["id"] == "918cedd2-8027-4b9e-a589-7d4676a2efa8"
    assert service["plans"][0]["id"] == "bf01c6d5-ff4b-468a-96b8-85d5f7beedc1"
    assert CATALOG["services"][0]["id"] == SERVICE_ID


_BAD_IDS = [
    {"service_id": None},
    {"service_id": ""},
    {"service_id": "unknown"},
    {"service_id": 7},
    {"service_id": PLAN_ID},
    {"plan_id": None},
    {"plan_id": ""},
    {"plan_id": "unknown"},
    {"plan_id": ["standard"]},
]


@pytest.mark.parametrize("change", _BAD_IDS)
@pytest.mark.parametrize(("path", "kind"), [(INSTANCE, "instance"), (BINDING, "binding")])
def test_put_with_missing_empty_or_unknown_ids_is_400(
    offline: Platform, path: str, kind: str, change: dict[str, Any]
) -> None:
    # checklist 189
    body = {**BODIES[kind], **change}
    _assert_refused(
        offline.ask("PUT", path, json={name: value for name, value in body.items() if value is not None}), 400
    )
    _assert_refused(offline.ask("PUT", path, json=body), 400)


@pytest.mark.parametrize("change", _BAD_IDS[:3] + _BAD_IDS[5:8])
@pytest.mark.parametrize("path", [INSTANCE, BINDING])
def test_delete_with_missing_empty_or_unknown_ids_is_400(offline: Platform, path: str, change: dict[str, Any]) -> None:
    # checklist 224
    query = {name: value for name, value in {**OFFERING, **change}.items() if value is not None}
    _assert_refused(offline.ask("DELETE", f"{path}?{urlencode(query)}"), 400)


_NO_OBJECTS = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"7",
    b"\xff\xfe\x00",
    b"a=b",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"1" * 5_000,
]


@pytest.mark.parametrize("body", _NO_OBJECTS, ids=range(len(_NO_OBJECTS)))
@pytest.mark.parametrize(("method", "path"), [("PUT", INSTANCE), ("PATCH", INSTANCE), ("PUT", BINDING)])
def test_a_body_that_is_no_json_object_is_400(offline: Platform, method: str, path: str, body: bytes) -> None:
    # checklist 190
    _assert_refused(offline.ask(method, path, data=body, content_type="application/json"), 400)


@pytest.mark.parametrize("name", ["space_guid", "organization_guid"])
@pytest.mark.parametrize("value", [None, "", 7, {}, [], True, "nul\0", "line\nbreak", "\ud800", "x" * 256])
def test_a_provision_needs_space_and_organization(offline: Platform, name: str, value: Any) -> None:
    # checklist 190
    _assert_refused(offline.ask("PUT", INSTANCE, json={**instance_body(), name: value}), 400)


@pytest.mark.parametrize("value", ["", 7, {}, [], "nul\0", "\ud800", "x" * 256])
def test_an_app_must_be_named_by_a_text(offline: Platform, value: Any) -> None:
    _assert_refused(offline.bind("instance-1", "binding-1", bind_resource={"app_guid": value}), 400)
    _assert_refused(offline.bind("instance-1", "binding-1", bind_resource={}, app_guid=value), 400)
    _assert_refused(offline.bind("instance-1", "binding-1", bind_resource="app"), 400)


@pytest.mark.parametrize("guid", ["a%00b", "a%0Ab", "x" * 256])
def test_an_id_in_the_path_that_cannot_be_stored_is_400(offline: Platform, guid: str) -> None:
    for method in ("PUT", "PATCH", "DELETE"):
        path = f"/v2/service_instances/{guid}?{urlencode(OFFERING)}"
        _assert_refused(offline.ask(method, path, json=instance_body()), 400)
    for method in ("PUT", "DELETE"):
        path = f"{INSTANCE}/service_bindings/{guid}?{urlencode(OFFERING)}"
        _assert_refused(offline.ask(method, path, json=binding_body()), 400)


def test_any_printable_id_is_taken_as_it_is(broker: Platform) -> None:
    guid = "Größe%20%F0%9F%98%80%25'%22;--"
    assert broker.provision(guid).status_code == 201
    assert broker.provision(guid).status_code == 200
    assert broker.deprovision(guid).status_code == 200


def test_a_body_over_a_mebibyte_is_413(offline: Platform) -> None:
    body = {**instance_body(), "parameters": {"filler": "x" * 1024 * 1024}}
    _assert_refused(offline.ask("PUT", INSTANCE, json=body), 413)


@pytest.mark.parametrize("path", [f"{INSTANCE}/last_operation", f"{BINDING}/last_operation", "/v2", "/v2/nowhere"])
def test_what_is_not_served_is_404(broker: Platform, path: str) -> None:
    # checklist 223
    broker.provision("instance-1")
    broker.bind("instance-1", "binding-1")
    _assert_refused(broker.ask("GET", path), 404)


@pytest.mark.parametrize(("method", "path"), [("GET", INSTANCE), ("GET", BINDING), ("POST", "/v2/catalog")])
def test_a_method_that_is_not_served_is_405_and_names_those_that_are(broker: Platform, method: str, path: str) -> None:
    # checklist 225, 230
    broker.provision("instance-1")
    answer = broker.ask(method, path)
    _assert_refused(answer, 405)
    assert answer.headers["Allow"]


@pytest.mark.parametrize(
    "query", ["", "?accepts_incomplete=true", "?accepts_incomplete=false", "?accepts_incomplete=x"]
)
def test_no_operation_is_ever_left_to_be_polled(broker: Platform, query: str) -> None:
    # checklist 191, 192, 223
    offering = f"{query or '?'}&{urlencode({'service_id': SERVICE_ID, 'plan_id': PLAN_ID})}"
    made = broker.ask("PUT", INSTANCE + query, json=instance_body())
    assert (made.status_code, made.get_json()) == (201, {})
    bound = broker.ask("PUT", BINDING + query, json=binding_body())
    assert (bound.status_code, set(bound.get_json())) == (201, {"credentials"})
    for path in (BINDING, INSTANCE):
        gone = broker.ask("DELETE", path + offering)
        assert (gone.status_code, gone.get_json()) == (200, {})


def test_a_second_delete_is_410(broker: Platform) -> None:
    # checklist 210, 219
    broker.provision("instance-1")
    broker.bind("instance-1", "binding-1")
    assert broker.unbind("instance-1", "binding-1").status_code == 200
    _assert_refused(broker.unbind("instance-1", "binding-1"), 410)
    assert broker.deprovision("instance-1").status_code == 200
    _assert_refused(broker.deprovision("instance-1"), 410)
    _assert_refused(broker.unbind("instance-1", "binding-1"), 410)


def test_deleting_what_was_never_seen_is_410(broker: Platform) -> None:
    # checklist 210, 219
    _assert_refused(broker.deprovision("never-seen"), 410)
    _assert_refused(broker.unbind("never-seen", "never-seen"), 410)
    broker.provision("instance-1")
    _assert_refused(broker.unbind("instance-1", "never-seen"), 410)


@pytest.mark.parametrize(
    "extra",
    [
        {"parameters": {"anything": [1, None, {"deep": {}}]}},
        {"maintenance_info": {"version": "9.9.9", "description": "x"}},
        {"context": {"platform": "kubernetes", "namespace": "x", "clusterid": "y"}},
        {"context": None},
        {"parameters": None},
        {"unheard_of": {"of": "it"}},
    ],
)
def test_unknown_fields_are_ignored(broker: Platform, extra: dict[str, Any]) -> None:
    # checklist 226
    assert broker.ask("PUT", INSTANCE, json={**instance_body(), **extra}).status_code == 201
    assert broker.ask("PUT", BINDING, json={**binding_body(), **extra}).status_code == 201
    assert broker.update("instance-1", {"service_id": SERVICE_ID, **extra}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "sent", "status"),
    [
        ("GET", "/v2/catalog", {}, 200),
        ("GET", "/v2/nowhere", {}, 404),
        ("GET", "/v2/catalog", {"Authorization": None}, 401),
        ("GET", "/v2/catalog", {"X_Broker_Api_Version": None}, 412),
    ],
)
def test_the_identity_of_the_request_is_echoed(
    offline: Platform, method: str, path: str, sent: dict[str, Any], status: int
) -> None:
    # checklist 227
    request_identity = "e26cee84-6b38-4456-b34e-d1a9f002c956"
    answer = offline.ask(method, path, headers=headers(X_Broker_Api_Request_Identity=request_identity, **sent))
    assert answer.status_code == status
    assert answer.headers["X-Broker-API-Request-Identity"] == request_identity


@pytest.mark.parametrize("value", [None, "", "x" * 256, "tab\there"])
def test_an_identity_of_the_request_that_is_none_is_not_echoed(offline: Platform, value: str | None) -> None:
    answer = offline.ask("GET", "/v2/catalog", headers=headers(X_Broker_Api_Request_Identity=value))
    assert answer.status_code == 200
    assert "X-Broker-API-Request-Identity" not in answer.headers


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "cloudfoundry",
        "cloudfoundry !!!",
        "cloudfoundry bnVsbA==",
        "a b c",
        identity(7),
        identity("\0"),
        "é è",
    ],
)
def test_an_odd_originating_identity_breaks_no_request(broker: Platform, value: str | None) -> None:
    # checklist 228
    sent = headers(X_Broker_Api_Originating_Identity=value)
    assert broker.ask("PUT", INSTANCE, json=instance_body(), headers=sent).status_code == 201


def test_the_content_type_of_a_body_does_not_matter(broker: Platform) -> None:
    answer = broker.ask("PUT", INSTANCE, data=json.dumps(instance_body()), content_type="text/plain")
    assert answer.status_code == 201


def test_health_is_told_outside_v2_without_any_header(offline: Platform) -> None:
    answer = offline.ask("GET", "/", headers={})
    assert (answer.status_code, answer.get_json()) == (200, {})
    _assert_refused(offline.ask("GET", "/elsewhere", headers={}), 404)


def test_nothing_slips_past_the_guard_by_another_spelling(offline: Platform) -> None:
    for path in ("//v2/catalog", "/V2/catalog", "/v2//catalog", "/v2/catalog/", "/%76%32/catalog", "/./v2/catalog"):
        answer = offline.ask("GET", path, headers={})
        assert answer.status_code in {404, 412}, path

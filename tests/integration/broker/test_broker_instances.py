"""Turning the scheduler on and off for a space."""

import logging

import pytest
from sqlalchemy import Engine

from scheduler.cloudfoundry.errors import CannotTellError, TokenUnavailableError
from scheduler.store.jobs import get_job
from scheduler.testing.factories import APP, SPACE, make_job, make_schedule
from scheduler_broker.catalog import PLAN_ID, SERVICE_ID
from tests.integration.broker.platform import FakeCloudFoundry, Platform
from tests.integration.broker.rows import bindings, instances, progress_of, state, store

OTHER_SPACE = "22222222-aaaa-4bbb-8ccc-000000000099"


def test_a_space_is_turned_on_with_an_empty_object_and_nothing_to_poll(broker: Platform, engine: Engine) -> None:
    # checklist 191
    answer = broker.provision("one")
    assert (answer.status_code, answer.get_json()) == (201, {})
    assert instances(engine) == ["one"]


def test_the_same_instance_again_is_200_and_changes_nothing(broker: Platform, engine: Engine) -> None:
    # checklist 194
    broker.provision("one")
    before = state(engine)
    answer = broker.provision("one", parameters={"ignored": True})
    assert (answer.status_code, answer.get_json()) == (200, {})
    assert state(engine) == before


@pytest.mark.parametrize("change", [{"space_guid": OTHER_SPACE}, {"organization_guid": "another"}])
def test_the_same_id_with_other_attributes_is_409(broker: Platform, engine: Engine, change: dict[str, str]) -> None:
    # checklist 194
    broker.provision("one")
    before = state(engine)
    answer = broker.provision("one", **change)
    assert answer.status_code == 409
    assert answer.get_json()["description"]
    assert state(engine) == before


def test_a_second_instance_in_the_space_is_409_with_words_for_the_user(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry
) -> None:
    # checklist 193
    broker.provision("one")
    cloud.instances.add("one")
    answer = broker.provision("two")
    assert answer.status_code == 409
    assert "only one" in answer.get_json()["description"]
    assert instances(engine) == ["one"]


def test_other_spaces_have_their_own_instances(broker: Platform) -> None:
    assert broker.provision("one").status_code == 201
    assert broker.provision("two", OTHER_SPACE).status_code == 201


def test_a_purged_instance_is_replaced(broker: Platform, engine: Engine) -> None:
    # checklist 195
    broker.provision("purged")
    broker.bind("purged", "old-binding")
    broker.bind("purged", "old-key", app=None)
    answer = broker.provision("new")
    assert (answer.status_code, answer.get_json()) == (201, {})
    assert instances(engine) == ["new"]
    assert bindings(engine) == []
    assert broker.unbind("purged", "old-binding").status_code == 410
    assert broker.deprovision("purged").status_code == 410


@pytest.mark.parametrize("scope", ["cloud_controller.admin_read_only", "cloud_controller.global_auditor"])
def test_any_scope_that_reads_everything_suffices_for_replacing(
    broker: Platform, cloud: FakeCloudFoundry, scope: str
) -> None:
    cloud.scopes = frozenset({"cloud_controller.read", scope})
    broker.provision("purged")
    assert broker.provision("new").status_code == 201


def test_replacing_pauses_apps_that_lose_their_last_binding(broker: Platform, engine: Engine) -> None:
    # checklist 196
    job = make_job()
    schedule = make_schedule(job)
    store(engine, job, schedule)
    broker.provision("purged")
    broker.bind("purged", "old-binding")
    broker.provision("new")
    assert progress_of(engine, schedule).paused_by == "unbind"
    assert broker.bind("new", "new-binding").status_code == 201
    assert progress_of(engine, schedule).enabled


@pytest.mark.parametrize(
    "doubt", ["scopes", "no token", "Cloud Controller fails", "Cloud Controller still knows the instance"]
)
def test_in_any_doubt_nothing_is_replaced(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry, doubt: str, caplog: pytest.LogCaptureFixture
) -> None:
    # checklist 197
    broker.provision("one")
    broker.bind("one", "binding")
    before = state(engine)
    match doubt:
        case "scopes":
            cloud.scopes = frozenset({"cloud_controller.read", "cloud_controller.write"})
        case "no token":
            cloud.scope_fault = TokenUnavailableError("UAA gives no token")
        case "Cloud Controller fails":
            cloud.fault = CannotTellError("Cloud Controller answers 404", status=404)
        case _:
            cloud.instances.add("one")
    with caplog.at_level(logging.WARNING):
        answer = broker.provision("two")
    assert answer.status_code == 409
    assert answer.get_json()["description"]
    assert state(engine) == before
    assert ("purge_undecided" in {getattr(line, "action", "") for line in caplog.records}) is not ("knows" in doubt)


def test_turning_off_takes_the_bindings_along_and_pauses_their_apps(broker: Platform, engine: Engine) -> None:
    # checklist 218
    job = make_job()
    schedule = make_schedule(job)
    store(engine, job, schedule)
    broker.provision("one")
    broker.bind("one", "first")
    broker.bind("one", "second")
    broker.bind("one", "key", app=None)
    answer = broker.deprovision("one")
    assert (answer.status_code, answer.get_json()) == (200, {})
    assert state(engine) == [[], []]
    assert progress_of(engine, schedule).paused_by == "unbind"


def test_jobs_and_schedules_outlive_the_instance_and_the_space(
    broker: Platform, engine: Engine, cloud: FakeCloudFoundry
) -> None:
    # checklist 220
    job = make_job()
    schedule = make_schedule(job)
    store(engine, job, schedule)
    broker.provision("one")
    cloud.apps.clear()
    assert broker.deprovision("one").status_code == 200
    with engine.begin() as connection:
        assert get_job(connection, job.guid) == job
    assert progress_of(engine, schedule).enabled  # it was never bound, so nothing was unbound


def test_a_space_that_was_turned_off_can_be_turned_on_again(broker: Platform, engine: Engine) -> None:
    # checklist 221
    broker.provision("one")
    broker.deprovision("one")
    assert broker.provision("two").status_code == 201
    assert instances(engine) == ["two"]


def test_an_update_that_leaves_the_plan_is_accepted(broker: Platform, engine: Engine) -> None:
    # checklist 222
    broker.provision("one")
    before = state(engine)
    bodies = [
        {"service_id": SERVICE_ID},
        {"service_id": SERVICE_ID, "plan_id": PLAN_ID, "previous_values": {"plan_id": PLAN_ID}},
        {"service_id": SERVICE_ID, "plan_id": None, "parameters": {"x": 1}, "context": {"instance_name": "renamed"}},
    ]
    for body in bodies:
        answer = broker.update("one", body)
        assert (answer.status_code, answer.get_json()) == (200, {})
    assert state(engine) == before


@pytest.mark.parametrize(
    ("guid", "body", "status"),
    [
        ("one", {"service_id": SERVICE_ID, "plan_id": "another-plan"}, 422),
        ("one", {"service_id": SERVICE_ID, "plan_id": SERVICE_ID}, 422),
        ("one", {"service_id": SERVICE_ID, "plan_id": ""}, 400),
        ("one", {"service_id": SERVICE_ID, "plan_id": 7}, 400),
        ("one", {"service_id": "another", "plan_id": PLAN_ID}, 400),
        ("one", {"plan_id": PLAN_ID}, 400),
        ("one", {}, 400),
        ("unknown", {"service_id": SERVICE_ID}, 404),
    ],
)
def test_an_update_that_cannot_be_is_refused(
    broker: Platform, engine: Engine, guid: str, body: dict[str, object], status: int
) -> None:
    # checklist 222
    broker.provision("one")
    before = state(engine)
    answer = broker.update(guid, body)
    assert answer.status_code == status
    assert answer.get_json()["description"]
    assert state(engine) == before


def test_the_app_guid_of_a_purged_instance_may_be_bound_under_its_replacement(broker: Platform) -> None:
    broker.provision("purged")
    broker.bind("purged", "binding", app=APP)
    broker.provision("new", SPACE)
    assert broker.bind("new", "binding", app=APP).status_code == 201

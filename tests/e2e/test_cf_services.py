"""What users do with services on the cf command line, from Cloud Controller through the real broker and back."""

from collections.abc import Iterator

import pytest

from scheduler_local import seed
from scheduler_local.cf_user import CfError, CfUser
from scheduler_local.testing import StandInController, StandInUaa
from tests.fixtures.processes import Spawn
from tests.fixtures.session import free_port

USERNAME, PASSWORD = "cloud-controller", "a password of length"
API_URL = "https://scheduler.sys.example.com"
DEV_SPACE = seed.guid_of("space", seed.SPACE)
OTHER_SPACE = seed.guid_of("space", seed.OTHER_SPACE)
APP = seed.guid_of("app", seed.APP)


@pytest.fixture
def admin(cc: StandInController, uaa: StandInUaa) -> Iterator[CfUser]:
    user = CfUser(cc.url, uaa.admin_token())
    yield user
    user.close()


@pytest.fixture
def broker_url(spawn: Spawn, database_url: str, uaa: StandInUaa, cc: StandInController) -> str:
    """A broker that runs."""
    port = free_port()
    spawn(
        "broker",
        env={
            "DATABASE_URL": database_url,
            "QUEUE_URL": "postgres",
            "CF_ENDPOINT": cc.url,
            "UAA_ENDPOINT": uaa.url,
            "CLIENT_ID": seed.CLIENT_ID,
            "CLIENT_SECRET": seed.CLIENT_SECRET,
            "SCHEDULER_PORT": str(port),
            "SCHEDULER_BROKER_ENABLED": "true",
            "SCHEDULER_BROKER_USERNAME": USERNAME,
            "SCHEDULER_BROKER_PASSWORD": PASSWORD,
            "SCHEDULER_BROKER_API_URL": API_URL,
        },
    )
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def market(admin: CfUser, broker_url: str) -> CfUser:
    """An admin of a Cloud Foundry where the scheduler is on offer."""
    admin.create_service_broker("scheduler", broker_url, USERNAME, PASSWORD)  # checklist 305
    admin.enable_service_access("scheduler")
    return admin


def test_a_space_turns_the_scheduler_on_and_off_again(market: CfUser) -> None:
    instance = market.create_service("scheduler", "standard", "mine", DEV_SPACE)  # checklist 191
    binding = market.bind_service(APP, instance)
    assert market.credentials(binding) == {"api_url": API_URL, "instance_id": instance, "app_guid": APP}
    key = market.create_service_key(instance, "key-1")
    assert market.credentials(key) == {"api_url": API_URL, "instance_id": instance}  # checklist 203 204
    market.delete_binding(key)
    market.delete_binding(binding)
    market.delete_service(instance)
    market.create_service("scheduler", "standard", "again", DEV_SPACE)  # checklist 221


def test_deleting_an_instance_takes_its_bindings_along(market: CfUser) -> None:
    instance = market.create_service("scheduler", "standard", "mine", DEV_SPACE)
    market.bind_service(APP, instance)
    market.create_service_key(instance, "key-1")
    market.delete_service(instance)
    assert market.get("/v3/service_instances")["resources"] == []


def test_a_space_holds_one_instance_and_users_are_told_so(market: CfUser) -> None:
    market.create_service("scheduler", "standard", "mine", DEV_SPACE)
    with pytest.raises(CfError, match=r"^Service broker error: ."):  # checklist 193
        market.create_service("scheduler", "standard", "another", DEV_SPACE)
    market.create_service("scheduler", "standard", "mine", OTHER_SPACE)


def test_a_purged_instance_is_replaced(market: CfUser) -> None:
    market.purge_service_instance(market.create_service("scheduler", "standard", "mine", DEV_SPACE))
    market.create_service("scheduler", "standard", "new", DEV_SPACE)  # checklist 195


def test_a_purged_instance_is_not_replaced_while_our_client_may_not_see_all(market: CfUser, uaa: StandInUaa) -> None:
    market.purge_service_instance(market.create_service("scheduler", "standard", "mine", DEV_SPACE))
    uaa.set_client(scopes=["cloud_controller.read"])
    with pytest.raises(CfError, match="Service broker error"):  # checklist 197
        market.create_service("scheduler", "standard", "new", DEV_SPACE)


def test_the_wrong_password_is_told_from_other_errors(admin: CfUser, broker_url: str) -> None:
    with pytest.raises(CfError, match="Authentication with the service broker failed"):
        admin.create_service_broker("scheduler", broker_url, USERNAME, "another password")

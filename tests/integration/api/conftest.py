"""The API over a real PostgreSQL, with real tokens of the stand-in UAA and real roles of the stand-in CC.

api        Api: requests as whoever is named: api.get("/jobs", user="stranger"), api.post(path, body, user=…)
app        an app in the space in which `developer` is a developer
other_app  an app in the space of somebody else
"""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.runtime.settings import Service, Settings, read_settings
from scheduler.store.engine import open_engine
from scheduler_api.app import create_app
from scheduler_api.wsgi import assemble
from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.api import Api

BROKER = {
    "SCHEDULER_BROKER_ENABLED": "true",
    "SCHEDULER_BROKER_USERNAME": "broker",
    "SCHEDULER_BROKER_PASSWORD": "a-broker-password",
    "SCHEDULER_BROKER_API_URL": "https://scheduler.example.com",
}


@pytest.fixture
def variables() -> dict[str, str]:
    """Settings of the test's own, beside those that lead to database and stand-ins."""
    return {}


@pytest.fixture
def settings(database_url: str, cloud_foundry: CloudFoundrySettings, variables: dict[str, str]) -> Settings:
    """What the API is told."""
    own = {
        "DATABASE_URL": database_url,
        "CF_ENDPOINT": cloud_foundry.cf_endpoint,
        "UAA_ENDPOINT": cloud_foundry.uaa_endpoint,
        "CLIENT_ID": cloud_foundry.client_id,
        "CLIENT_SECRET": cloud_foundry.client_secret,
    }
    return read_settings(Service.API, own | variables)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    """The application's connections."""
    engine = open_engine(settings.database_url, pre_ping=True)
    yield engine
    engine.dispose()


@pytest.fixture
def api(settings: Settings, engine: Engine, uaa: StandInUaa) -> Iterator[Api]:
    """The application, asked without a network between."""
    collaborators = assemble(settings, engine)
    yield Api(create_app(collaborators), uaa)
    collaborators.close()


@pytest.fixture
def app(cc: StandInController) -> MadeApp:
    """An app of the developer's space."""
    return cc.add_app(seed.SPACE)


@pytest.fixture
def other_app(cc: StandInController) -> MadeApp:
    """An app of a space in which the developer has no role."""
    return cc.add_app(seed.OTHER_SPACE)

"""The API over a real PostgreSQL, with real tokens of the stand-in UAA and real roles of the stand-in CC.

api        Api: requests as whoever is named: api.get("/jobs", user="stranger"), api.post(path, body, user=…)
app        an app in the space in which `developer` is a developer
other_app  an app in the space of somebody else
"""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.runtime.settings import Service, Settings, read_settings
from scheduler.store.engine import open_engine
from scheduler.store.tables import metadata
from scheduler_api.app import create_app
from scheduler_api.wsgi import assemble
from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.api import Api
from tests.fixtures.postgres import PostgresServer

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


@pytest.fixture(scope="session")
def shared_engine(postgres: PostgresServer) -> Iterator[Engine]:
    """Connections to one database for all tests of the API: a fresh one for each would take most of their time."""
    url = postgres.create_database()
    engine = open_engine(url, pool_size=20, pre_ping=True)
    yield engine
    engine.dispose()
    postgres.drop_database(url)


@pytest.fixture
def engine(shared_engine: Engine) -> Engine:
    """The application's connections to a database in which there is nothing."""
    tables = ", ".join(table.name for table in metadata.sorted_tables)
    with shared_engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {tables}"))
    return shared_engine


@pytest.fixture
def settings(engine: Engine, cloud_foundry: CloudFoundrySettings, variables: dict[str, str]) -> Settings:
    """What the API is told."""
    own = {
        "DATABASE_URL": engine.url.render_as_string(hide_password=False),
        "CF_ENDPOINT": cloud_foundry.cf_endpoint,
        "UAA_ENDPOINT": cloud_foundry.uaa_endpoint,
        "CLIENT_ID": cloud_foundry.client_id,
        "CLIENT_SECRET": cloud_foundry.client_secret,
    }
    return read_settings(Service.API, own | variables)


@pytest.fixture
def api(settings: Settings, engine: Engine, cloud_foundry: CloudFoundrySettings, uaa: StandInUaa) -> Iterator[Api]:
    """The application, asked without a network between."""
    collaborators = assemble(settings, engine, cloud_foundry)
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

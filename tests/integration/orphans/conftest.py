"""The API with impatient clients, over the stand-ins; `settings` and `api` as in the tests of the API."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler.runtime.settings import Service, read_settings
from scheduler.store.engine import open_engine
from scheduler_api.app import create_app
from scheduler_api.wsgi import assemble
from scheduler_local import seed
from scheduler_local.testing import MadeApp, StandInController, StandInUaa
from tests.fixtures.api import Api

GONE = "11111111-0000-4000-8000-00000000dead"
READ_TIMEOUT_SECONDS = 3.0


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = open_engine(database_url, pool_size=10, lock_timeout_seconds=2)
    yield engine
    engine.dispose()


@pytest.fixture
def api(database_url: str, engine: Engine, cloud_foundry: CloudFoundrySettings, uaa: StandInUaa) -> Iterator[Api]:
    variables = {
        "DATABASE_URL": database_url,
        "CF_ENDPOINT": cloud_foundry.cf_endpoint,
        "UAA_ENDPOINT": cloud_foundry.uaa_endpoint,
        "CLIENT_ID": cloud_foundry.client_id,
        "CLIENT_SECRET": cloud_foundry.client_secret,
    }
    impatient = replace(cloud_foundry, read_timeout_seconds=READ_TIMEOUT_SECONDS)
    collaborators = assemble(read_settings(Service.API, variables), engine, impatient)
    yield Api(create_app(collaborators), uaa)
    collaborators.close()


@pytest.fixture
def app(cc: StandInController) -> MadeApp:
    """An app that exists."""
    return cc.add_app(seed.SPACE)

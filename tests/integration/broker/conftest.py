"""The broker over a real database, with a Cloud Controller that says what a test wants."""

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import Engine

from scheduler.runtime.settings import Broker
from scheduler.store.database import Database
from scheduler.store.engine import open_engine
from scheduler_broker.app import create_app
from scheduler_broker.usecases.bindings import Bindings
from scheduler_broker.usecases.cloud import Cloud
from scheduler_broker.usecases.instances import Instances
from scheduler_broker.usecases.pausing import Pausing
from tests.integration.broker.platform import API_URL, PASSWORD, USERNAME, FakeCloudFoundry, Platform

SETTINGS = Broker(enabled=True, username=USERNAME, password=PASSWORD, api_url=API_URL)


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = open_engine(database_url, pool_size=30)
    yield engine
    engine.dispose()


@pytest.fixture
def cloud() -> FakeCloudFoundry:
    return FakeCloudFoundry()


@pytest.fixture
def broker(engine: Engine, cloud: FakeCloudFoundry) -> Platform:
    return Platform(_app(engine, cloud))


@pytest.fixture(scope="session")
def offline() -> Platform:
    """A broker without a database, for requests that must be answered before anything is looked up."""
    return Platform(_app(open_engine("postgresql://nobody@127.0.0.1:1/none"), FakeCloudFoundry()))


def _app(engine: Engine, cloud: FakeCloudFoundry) -> Flask:
    answers, pausing = Cloud(cloud, cloud), Pausing(default_zone="UTC")
    database = Database(engine)
    return create_app(SETTINGS, Instances(database, answers, pausing), Bindings(database, answers, pausing))

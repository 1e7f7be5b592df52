"""A client of the stand-in Cloud Controller, and an app there."""

from collections.abc import Iterator

import pytest

from scheduler.cloudfoundry.controller import Controller
from scheduler.cloudfoundry.settings import CloudFoundrySettings
from scheduler_local.testing import MadeApp, StandInController


@pytest.fixture
def controller(cloud_foundry: CloudFoundrySettings) -> Iterator[Controller]:
    client = Controller(cloud_foundry)
    yield client
    client.close()


@pytest.fixture
def app(cc: StandInController) -> MadeApp:
    return cc.add_app()

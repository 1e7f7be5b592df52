"""The doctor, over a real database, a real queue and the stand-ins for Cloud Foundry."""

from collections.abc import Callable

import pytest

from scheduler_local import seed
from scheduler_local.doctor import Check, doctor
from scheduler_local.testing import StandInController, StandInUaa

Examine = Callable[..., list[Check]]


@pytest.fixture
def variables(database_url: str, uaa: StandInUaa, cc: StandInController) -> dict[str, str]:
    """The settings of an installation in which nothing is wrong, on the queue over PostgreSQL."""
    return {
        "DATABASE_URL": database_url,
        "QUEUE_URL": "postgres",
        "CF_ENDPOINT": cc.url,
        "UAA_ENDPOINT": uaa.url,
        "CLIENT_ID": seed.CLIENT_ID,
        "CLIENT_SECRET": seed.CLIENT_SECRET,
        "SCHEDULER_ENCRYPTION_KEYS": "kR0dZC4pQf4pXnXcJQ7S0mJH5o0e0k0o5mYwz3oQx1c=",
    }


@pytest.fixture
def examine(variables: dict[str, str]) -> Examine:
    """Examine the installation with some variables changed; return the checks of one name."""

    def run(name: str, **changes: str) -> list[Check]:
        return [check for check in doctor({**variables, **changes}) if check.name == name]

    return run

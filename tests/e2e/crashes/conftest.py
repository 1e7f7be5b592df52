"""Real processes that die at chosen moments, ten times faster than in earnest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from scheduler.domain.calls import Call, Request, Retry
from scheduler.domain.jobs import Job
from scheduler.testing.factories import make_call, make_job
from scheduler_local import seed
from scheduler_local.testing import StandInController, StandInUaa
from tests.fixtures.processes import Service, Spawn
from tests.fixtures.rows import Rows
from tests.fixtures.session import wait_until

LIVENESS_SECONDS = 6.0
# A process is dead after 6 s, a ticker judges after 6 s of its own, and a loaded machine is late.
RESCUED_WITHIN = 3 * LIVENESS_SECONDS + 10


@dataclass
class Crew:
    """The services of one installation, as many as a test starts."""

    spawn: Spawn
    rows: Rows
    cc: StandInController
    environment: dict[str, str]

    def start(self, name: str, **variables: str) -> Service:
        """Start one more process of a service and wait until it is ready."""
        return self.spawn(name, env={**self.environment, **variables})

    def call(self, url: str, **options: Any) -> Call:
        """Store a call."""
        call = make_call(request=Request(**{"url": url, "auth_header": "bearer token", **options}))
        self.rows.add(call)
        return call

    def job(self, **fields: Any) -> Job:
        """Store a job of an app that exists."""
        app = self.cc.add_app()
        job = make_job(app_guid=app.guid, space_guid=app.space_guid, **fields)
        self.rows.add(job)
        return job

    def run(self, work: Call | Job, **fields: Any) -> UUID:
        """Make an execution that is due."""
        return self.rows.execution(work, **fields)

    def row(self, guid: UUID) -> Any:
        """Return the execution as it is now."""
        return self.rows.read(guid)

    def await_row(self, guid: UUID, *, within: float = RESCUED_WITHIN, **wanted: Any) -> Any:
        """Return the execution once it has these values."""

        def as_wanted() -> Any:
            row = self.row(guid)
            return row if all(getattr(row, name) == value for name, value in wanted.items()) else None

        return wait_until(as_wanted, within=within, what=f"{guid} has {wanted}, not {self.row(guid)}", every=0.1)


StartCrew = Callable[[str], Crew]


@pytest.fixture
def start_crew(spawn: Spawn, rows: Rows, database_url: str, uaa: StandInUaa, cc: StandInController) -> StartCrew:
    """`start_crew(queue_url)`: an installation without any process yet."""

    def start(queue_url: str) -> Crew:
        environment = {
            "DATABASE_URL": database_url,
            "QUEUE_URL": queue_url,
            "CF_ENDPOINT": cc.url,
            "UAA_ENDPOINT": uaa.url,
            "CLIENT_ID": seed.CLIENT_ID,
            "CLIENT_SECRET": seed.CLIENT_SECRET,
            "SCHEDULER_CALL_ALLOWED_NETWORKS": "127.0.0.0/8",
            "SCHEDULER_LIVENESS_SECONDS": str(LIVENESS_SECONDS),
            "no_proxy": "127.0.0.1",
        }
        return Crew(spawn, rows, cc, environment)

    return start


@pytest.fixture
def crew(start_crew: StartCrew) -> Crew:
    """An installation whose queue is PostgreSQL."""
    return start_crew("postgres")


@pytest.fixture
def rabbit_crew(start_crew: StartCrew, amqp_url: str) -> Crew:
    """An installation whose queue is RabbitMQ."""
    return start_crew(amqp_url)


def retrying(*words: str, attempts: int = 2) -> Retry:
    """Return a wish for more attempts."""
    return Retry(max_attempts=attempts, backoff_seconds=0.1, retry_on=words)

"""A ticker between publishing and committing: the message is out, the stamp is not."""

from collections.abc import Iterator

import pytest

from tests.e2e.crashes.confirms import ConfirmSwallower
from tests.e2e.crashes.conftest import Crew
from tests.fixtures.processes import Service
from tests.fixtures.session import wait_until
from tests.fixtures.suite import Endpoint

IDLE_IN_TRANSACTION_SECONDS = 15


@pytest.fixture
def swallower(amqp_url: str) -> Iterator[ConfirmSwallower]:
    swallower = ConfirmSwallower(amqp_url)
    yield swallower
    swallower.close()


@pytest.fixture
def publishing(rabbit_crew: Crew, swallower: ConfirmSwallower) -> Service:
    """A ticker whose messages arrive and whose confirms do not."""
    ticker = rabbit_crew.start("ticker", QUEUE_URL=swallower.url)
    swallower.swallowing.set()
    return ticker


def test_killed_it_leaves_a_message_that_runs_once(
    rabbit_crew: Crew, publishing: Service, swallower: ConfirmSwallower, endpoint: Endpoint
) -> None:
    guid = rabbit_crew.run(rabbit_crew.call(endpoint.url))
    assert swallower.swallowed.wait(30)
    publishing.kill()
    assert rabbit_crew.row(guid).queued_at is None
    rabbit_crew.start("ticker")  # publishes it again
    wait_until(lambda: rabbit_crew.row(guid).queued_at, within=30, what="the message is published again")
    rabbit_crew.start("call-runner")
    rabbit_crew.await_row(guid, state="SUCCEEDED")
    after = rabbit_crew.run(rabbit_crew.call(endpoint.url))
    rabbit_crew.await_row(after, state="SUCCEEDED")
    assert [hit.headers["x-scheduler-execution-guid"] for hit in endpoint.hits] == [str(guid), str(after)]


def test_stopped_it_is_cut_off_and_the_message_runs_once(
    rabbit_crew: Crew, publishing: Service, swallower: ConfirmSwallower, endpoint: Endpoint
) -> None:
    guid = rabbit_crew.run(rabbit_crew.call(endpoint.url))
    assert swallower.swallowed.wait(30)
    publishing.suspend()
    rabbit_crew.start("ticker")
    rabbit_crew.start("call-runner")  # has the message, and waits for the row that the stopped ticker holds
    rabbit_crew.await_row(guid, within=3 * IDLE_IN_TRANSACTION_SECONDS, state="SUCCEEDED")
    swallower.swallowing.clear()
    publishing.wake()
    after = rabbit_crew.run(rabbit_crew.call(endpoint.url))
    rabbit_crew.await_row(after, state="SUCCEEDED")
    assert [hit.headers["x-scheduler-execution-guid"] for hit in endpoint.hits] == [str(guid), str(after)]


def test_alive_it_publishes_again_and_the_run_happens_once(
    rabbit_crew: Crew, publishing: Service, swallower: ConfirmSwallower, endpoint: Endpoint
) -> None:
    guid = rabbit_crew.run(rabbit_crew.call(endpoint.url))
    assert swallower.swallowed.wait(30)
    rabbit_crew.start("call-runner")
    publishing.wait_logged(action="unconfirmed")
    swallower.swallowing.clear()
    rabbit_crew.await_row(guid, state="SUCCEEDED")
    assert len(endpoint.hits) == 1

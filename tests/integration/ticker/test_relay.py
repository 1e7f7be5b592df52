"""The relay between rows and a queue: RabbitMQ for real, and a queue that fails on demand."""

from collections.abc import Iterator, Sequence
from uuid import UUID

import pytest
from sqlalchemy import Engine

from scheduler.domain.states import RefType
from scheduler.messages import Bell
from scheduler.queue import open_consumer, open_publisher
from scheduler.runtime.timing import Timing
from scheduler.testing.factories import make_call
from scheduler_ticker.relay import BACKLOG_SECONDS, BATCH, Relay
from tests.fixtures.rows import Rows
from tests.fixtures.session import wait_until


class FailingQueue:
    """Confirms only the first `confirms` messages of each batch; `ready` messages wait, None: it is away."""

    def __init__(self, *, confirms: int = 10_000, ready: int | None = 0) -> None:
        self.confirms = confirms
        self.ready = ready
        self.published: list[UUID] = []

    def publish(self, bells: Sequence[Bell], *, timeout: float) -> set[UUID]:
        assert timeout > 0
        self.published += [bell.execution for bell in bells]
        return {bell.execution for bell in bells[: self.confirms]}

    def depth(self, kind: RefType) -> int | None:
        return self.ready if kind is RefType.CALL else 0

    def connected(self) -> bool:
        return self.ready is not None

    def close(self) -> None:
        """Nothing to let go."""


def _relay(engine: Engine, queue: object, *, window: int = 2_000) -> Relay:
    return Relay(engine=engine, publisher=queue, window=window, timing=Timing(), rings_channel=False)  # type: ignore[arg-type]


def test_what_is_not_confirmed_is_published_again(rows: Rows, engine: Engine) -> None:
    call = make_call()
    guids = [rows.execution(call) for _ in range(3)]
    queue = FailingQueue(confirms=1)
    relay = _relay(engine, queue)
    for _ in range(3):
        relay.run_once()
    assert queue.published == [*guids, *guids[1:], *guids[2:]]
    assert all(rows.read(guid).queued_at for guid in guids)


def test_nothing_is_published_while_the_queue_is_away(rows: Rows, engine: Engine) -> None:
    rows.execution(make_call())
    queue = FailingQueue(ready=None)
    assert _relay(engine, queue).run_once() > 0
    assert queue.published == []


def test_the_window_keeps_a_backlog_in_the_database(rows: Rows, engine: Engine) -> None:
    call = make_call()
    for _ in range(10):
        rows.execution(call)
    queue = FailingQueue(ready=4)
    relay = _relay(engine, queue, window=7)
    relay.run_once()
    assert len(queue.published) == 3
    queue.ready = 7
    assert relay.run_once() == BACKLOG_SECONDS
    assert len(queue.published) == 3


def test_a_full_batch_is_followed_by_the_next_at_once(rows: Rows, engine: Engine) -> None:
    call = make_call()
    rows.run(
        "INSERT INTO executions (guid, ref_type, ref_guid, space_guid, trigger, state, created_at)"
        " SELECT gen_random_uuid(), 'call', :call, 'space', 'manual', 'PENDING', now() FROM generate_series(1, :count)",
        call=call.guid,
        count=BATCH + 1,
    )
    relay = _relay(engine, FailingQueue())
    assert relay.run_once() == 0
    assert relay.run_once() > 0


@pytest.fixture
def relay_to_rabbitmq(engine: Engine, amqp_url: str, database_url: str) -> Iterator[Relay]:
    publisher = open_publisher(amqp_url, database_url)
    wait_until(publisher.connected, within=10, what="RabbitMQ is reached")
    yield _relay(engine, publisher)
    publisher.close()


def test_a_row_reaches_the_consumer_of_its_kind(
    rows: Rows, relay_to_rabbitmq: Relay, amqp_url: str, database_url: str
) -> None:
    guid = rows.execution(make_call())
    consumer = open_consumer(amqp_url, database_url, kind=RefType.CALL, prefetch=5)
    relay_to_rabbitmq.run_once()
    (delivery,) = consumer.receive(limit=5, timeout=10)
    assert delivery.bell == Bell(execution=guid, kind=RefType.CALL)
    consumer.acknowledge([delivery])
    consumer.close()

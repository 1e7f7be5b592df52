"""Whatever happens to RabbitMQ, its queues or its connections: publishing and consuming go on by themselves."""

import logging
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pika
import pytest
from pika.adapters.blocking_connection import BlockingChannel

from scheduler.domain.guids import new_guid
from scheduler.domain.states import RefType
from scheduler.messages import Bell
from scheduler.ports import Consumer, Publisher
from scheduler.queue import open_consumer, open_publisher
from scheduler.queue.rabbitmq import topology
from tests.fixtures.queues import Queue, receive
from tests.fixtures.rabbitmq import RabbitNode
from tests.fixtures.session import free_port, wait_until

RECOVERY_SECONDS = 2.0  # promised: after RabbitMQ is back, both sides work again within this
SLACK = 3  # a loaded machine may take this many times as long before a test fails
CALLS = topology.queue_name(RefType.CALL)
JOBS = topology.queue_name(RefType.JOB)


@contextmanager
def operator(queue: Queue) -> Iterator[BlockingChannel]:
    """A connection of somebody else's, who may do anything."""
    with pika.BlockingConnection(pika.URLParameters(queue.url)) as connection:
        yield connection.channel()


def assert_works(queue: Queue, publisher: Publisher, consumer: Consumer) -> None:
    """Publish until it is confirmed, as the relay does, and see it delivered, in time."""
    (bell,) = queue.bells(1)
    started = time.monotonic()
    wait_until(lambda: queue.ring(publisher, [bell]), within=RECOVERY_SECONDS * SLACK, what="a message is confirmed")
    remaining = RECOVERY_SECONDS * SLACK - (time.monotonic() - started)
    seen: list[Bell] = []

    def delivered() -> bool:
        deliveries = consumer.receive(limit=20, timeout=0.1)
        consumer.acknowledge(deliveries)
        seen.extend(delivery.bell for delivery in deliveries)
        return bell in seen

    wait_until(delivered, within=remaining, what="it is delivered")


def test_both_sides_recover_when_rabbitmq_is_killed_and_comes_back(rabbitmq: RabbitNode, rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    rabbitmq.kill()
    wait_until(lambda: not publisher.connected() and not consumer.connected(), within=10, what="the loss is noticed")
    rabbitmq.start()
    assert_works(rabbit_queue, publisher, consumer)


def test_while_rabbitmq_is_away_nothing_raises_and_nobody_waits(rabbitmq: RabbitNode, rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    bells = rabbit_queue.bells(3)
    rabbit_queue.ring(publisher, bells[:1])
    in_hand = receive(consumer, 1)
    rabbitmq.stop()
    wait_until(lambda: not publisher.connected() and not consumer.connected(), within=10, what="the loss is noticed")
    started = time.monotonic()
    assert publisher.publish(bells, timeout=60) == set()
    assert publisher.depth(RefType.CALL) is None
    assert consumer.receive(limit=1, timeout=0.01) == []
    consumer.acknowledge(in_hand)
    consumer.give_back(in_hand)
    consumer.pause()
    consumer.resume()
    assert time.monotonic() - started < 10


def test_messages_survive_the_death_of_rabbitmq(rabbitmq: RabbitNode, rabbit_queue: Queue) -> None:
    publisher = rabbit_queue.publisher()
    bells = rabbit_queue.bells(50)
    assert len(rabbit_queue.ring(publisher, bells)) == 50
    rabbitmq.kill()
    rabbitmq.start()
    assert len(rabbit_queue.work(rabbit_queue.consumer(), 50)) == 50


def test_what_was_in_hand_when_the_connection_broke_comes_again(rabbitmq: RabbitNode, rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    rabbit_queue.ring(publisher, rabbit_queue.bells(3))
    before = receive(consumer, 3)
    rabbitmq.close_connections()
    again = receive(consumer, 3)
    # Tags of the old connection mean other messages on the new one: settling by them must settle nothing.
    consumer.acknowledge(before)
    consumer.close()
    left = receive(rabbit_queue.consumer(), 3)
    assert {d.bell for d in before} == {d.bell for d in again} == {d.bell for d in left}


def test_deleted_queues_are_declared_again(rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    with operator(rabbit_queue) as channel:
        channel.queue_delete(CALLS)
        channel.queue_delete(JOBS)
    assert_works(rabbit_queue, publisher, consumer)


def test_a_queue_deleted_without_any_consumer_is_declared_again_by_publishing(rabbit_queue: Queue) -> None:
    publisher = rabbit_queue.publisher()
    with operator(rabbit_queue) as channel:
        channel.queue_delete(CALLS)
    bells = rabbit_queue.bells(1_500)
    assert rabbit_queue.ring(publisher, bells) == set(), "what no queue took must not count as confirmed"
    wait_until(lambda: len(publisher.publish(bells, timeout=10)) == len(bells), within=10, what="all are confirmed")


def test_asking_for_the_depth_declares_a_deleted_queue_again(rabbit_queue: Queue) -> None:
    publisher = rabbit_queue.publisher()
    with operator(rabbit_queue) as channel:
        channel.queue_delete(CALLS)
    wait_until(lambda: publisher.depth(RefType.CALL) == 0, within=RECOVERY_SECONDS * SLACK, what="it is there, empty")
    bells = rabbit_queue.bells(1)
    assert rabbit_queue.ring(publisher, bells) == {bells[0].execution}


def test_a_deleted_exchange_is_declared_again(rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    with operator(rabbit_queue) as channel:
        channel.exchange_delete(topology.EXCHANGE)
    assert_works(rabbit_queue, publisher, consumer)


def test_deliveries_of_a_deleted_queue_can_still_be_settled(rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    rabbit_queue.ring(publisher, rabbit_queue.bells(3))
    in_hand = receive(consumer, 3)
    with operator(rabbit_queue) as channel:
        channel.queue_delete(CALLS)
    consumer.acknowledge(in_hand[:2])
    consumer.give_back(in_hand[2:])
    assert_works(rabbit_queue, publisher, consumer)


def test_purging_a_queue_stops_nobody(rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer(prefetch=2)
    rabbit_queue.ring(publisher, rabbit_queue.bells(10))
    receive(consumer, 2)
    with operator(rabbit_queue) as channel:
        channel.queue_purge(CALLS)
    assert publisher.depth(RefType.CALL) == 0
    assert_works(rabbit_queue, publisher, rabbit_queue.consumer())


def test_both_sides_recover_when_an_operator_closes_their_connections(
    rabbitmq: RabbitNode, rabbit_queue: Queue
) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    for _ in range(3):
        rabbitmq.close_connections()
        assert_works(rabbit_queue, publisher, consumer)


def test_a_pause_outlives_the_connection(rabbitmq: RabbitNode, rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    consumer.pause()
    rabbitmq.close_connections()
    wait_until(lambda: publisher.connected() and consumer.connected(), within=10, what="both are connected again")
    rabbit_queue.ring(publisher, rabbit_queue.bells(1))
    assert consumer.receive(limit=1, timeout=0.5) == []
    consumer.resume()
    assert len(rabbit_queue.work(consumer, 1)) == 1


def test_taking_ahead_outlives_the_connection(rabbitmq: RabbitNode, rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer(prefetch=2)
    consumer.take_ahead(3)
    rabbitmq.close_connections()
    wait_until(lambda: publisher.connected() and consumer.connected(), within=10, what="both are connected again")
    rabbit_queue.ring(publisher, rabbit_queue.bells(9))
    assert len(receive(consumer, 5)) == 5
    assert consumer.receive(limit=9, timeout=0.5) == []


def test_publishing_goes_on_after_a_memory_alarm_and_consuming_during_it(
    rabbitmq: RabbitNode, rabbit_queue: Queue
) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer(prefetch=1)
    rabbit_queue.ring(publisher, rabbit_queue.bells(2))
    first = receive(consumer, 1)
    rabbitmq.block_publishers(blocked=True)
    try:
        started = time.monotonic()
        bells = rabbit_queue.bells(5)
        assert publisher.publish(bells, timeout=60) == set()
        assert time.monotonic() - started < 30
        assert not publisher.connected()
        assert publisher.depth(RefType.CALL) is None
        consumer.acknowledge(first)
        receive(consumer, 1)
    finally:
        rabbitmq.block_publishers(blocked=False)
    assert_works(rabbit_queue, publisher, rabbit_queue.consumer())


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{}", id="no fields"),
        pytest.param(b"\xff\xfe", id="no text"),
        pytest.param(b"[" * 50_000, id="nested without end"),
        pytest.param(b'{"v":2,"execution":"01920000-0000-7000-8000-000000000000","kind":"call"}', id="a later version"),
    ],
)
def test_an_unreadable_message_goes_to_the_dead_letters_and_stops_nobody(
    rabbit_queue: Queue, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    with operator(rabbit_queue) as channel:
        channel.basic_publish(topology.EXCHANGE, CALLS, body)
        assert_works(rabbit_queue, publisher, consumer)
        assert dead_letter(channel) == body
    assert consumer.unreadable_count == 1
    assert "queue_message_unreadable" in [getattr(record, "action", "") for record in caplog.records]


def test_a_message_in_the_wrong_queue_goes_to_the_dead_letters(rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer(RefType.CALL)
    body = Bell(execution=new_guid(), kind=RefType.JOB).encode()
    with operator(rabbit_queue) as channel:
        channel.basic_publish(topology.EXCHANGE, CALLS, body)
        assert_works(rabbit_queue, publisher, consumer)
        assert dead_letter(channel) == body


def dead_letter(channel: BlockingChannel) -> bytes:
    """Return the next dead letter's body."""

    def get() -> bytes | None:
        method, _, body = channel.basic_get(topology.DEAD_LETTERS, auto_ack=True)
        return None if method is None else b"" + body

    found: list[bytes] = []

    def arrived() -> bool:
        body = get()
        if body is not None:
            found.append(body)
        return bool(found)

    wait_until(arrived, within=10, what="a dead letter arrives")
    return found[0]


def test_a_message_that_nobody_can_settle_goes_to_the_dead_letters(rabbit_queue: Queue) -> None:
    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    (bell,) = rabbit_queue.bells(1)
    rabbit_queue.ring(publisher, [bell])
    for _ in range(topology.DELIVERY_LIMIT + 1):
        consumer.give_back(receive(consumer, 1))
    with operator(rabbit_queue) as channel:
        assert dead_letter(channel) == bell.encode()


def test_messages_are_persistent_and_carry_the_execution_as_their_id(rabbit_queue: Queue) -> None:
    (bell,) = rabbit_queue.bells(1)
    rabbit_queue.ring(rabbit_queue.publisher(), [bell])
    with operator(rabbit_queue) as channel:
        _, properties, body = channel.basic_get(CALLS)
    assert (properties.delivery_mode, properties.message_id, properties.content_type) == (
        2,
        str(bell.execution),
        "application/json",
    )
    assert body == bell.encode()


def test_a_queue_declared_differently_is_reported_and_used_once_it_is_gone(
    rabbit_queue: Queue, caplog: pytest.LogCaptureFixture
) -> None:
    with operator(rabbit_queue) as channel:
        channel.queue_declare(CALLS, durable=True)
        with closing(open_publisher(rabbit_queue.url, rabbit_queue.database_url)) as publisher:
            wait_until(lambda: "PRECONDITION_FAILED" in caplog.text, within=10, what="the mistake is logged")
            assert not publisher.connected()
            channel.queue_delete(CALLS)
            wait_until(publisher.connected, within=10, what="the publisher is connected")
    warnings = [record for record in caplog.records if getattr(record, "action", "") == "queue_unavailable"]
    assert len(warnings) == 1, "once, not for each try"


def test_a_service_may_start_before_rabbitmq(rabbitmq: RabbitNode, rabbit_queue: Queue) -> None:
    rabbitmq.kill()
    with (
        closing(open_publisher(rabbit_queue.url, "")) as publisher,
        closing(open_consumer(rabbit_queue.url, "", kind=RefType.CALL, prefetch=5)) as consumer,
    ):
        assert not publisher.connected()
        rabbitmq.start()
        wait_until(lambda: publisher.connected() and consumer.connected(), within=10, what="both are connected")


@pytest.mark.parametrize("host", ["127.0.0.1", "no-such-host.invalid"])
def test_closing_does_not_wait_for_a_rabbitmq_that_is_not_there(host: str) -> None:
    publisher = open_publisher(f"amqp://{host}:{free_port()}", "")
    started = time.monotonic()
    publisher.close()
    assert time.monotonic() - started < 10


def test_closing_does_not_wait_for_a_rabbitmq_that_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        publisher = open_publisher(f"amqp://127.0.0.1:{silent.getsockname()[1]}", "")
        connection, _ = silent.accept()
        started = time.monotonic()
        publisher.close()
        connection.close()
    assert time.monotonic() - started < 10
    assert not publisher.connected()


def test_an_error_of_our_own_ends_the_connection_but_not_the_link(
    rabbit_queue: Queue, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_body: bytes) -> Bell:
        monkeypatch.undo()
        raise ZeroDivisionError

    publisher, consumer = rabbit_queue.publisher(), rabbit_queue.consumer()
    monkeypatch.setattr("scheduler.queue.rabbitmq.consumer.decode", fail)
    assert_works(rabbit_queue, publisher, consumer)
    assert "ZeroDivisionError" in caplog.text


def test_no_password_is_logged(rabbitmq: RabbitNode, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with closing(open_publisher(f"amqp://guest:very-secret@127.0.0.1:{rabbitmq.port}", "")):
        wait_until(lambda: "queue_unavailable" in str([vars(r) for r in caplog.records]), within=20, what="refused")
    assert "very-secret" not in caplog.text

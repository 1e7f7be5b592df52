"""What is special about the queue that lives in the rows."""

import time
from contextlib import closing

import pytest
from sqlalchemy import text

from scheduler.domain.states import RefType
from scheduler.queue import POSTGRES, open_consumer, open_publisher
from scheduler.queue.postgres.publisher import MAX_DEPTH
from tests.fixtures.postgres import PostgresServer
from tests.fixtures.queues import Queue, receive
from tests.fixtures.session import wait_until


def execute(queue: Queue, statement: str) -> None:
    with queue.engine.begin() as connection:
        connection.execute(text(statement))


def test_rows_that_are_not_stamped_are_no_messages(postgres_queue: Queue) -> None:
    postgres_queue.bells(1)
    assert postgres_queue.consumer().receive(limit=1, timeout=0.1) == []
    assert postgres_queue.publisher().depth(RefType.CALL) == 0


def test_a_row_that_is_not_due_yet_is_delivered_once_it_is(postgres_queue: Queue) -> None:
    postgres_queue.ring(postgres_queue.publisher(), postgres_queue.bells(1))
    execute(postgres_queue, "UPDATE executions SET not_before = now() + interval '1 hour'")
    consumer = postgres_queue.consumer()
    assert consumer.receive(limit=1, timeout=0.1) == []
    execute(postgres_queue, "UPDATE executions SET not_before = now()")
    receive(consumer, 1)


def test_a_lost_ring_costs_a_second_and_no_message(postgres_queue: Queue) -> None:
    consumer = postgres_queue.consumer()
    consumer.receive(limit=1, timeout=0)
    postgres_queue.bells(1)
    execute(postgres_queue, "UPDATE executions SET queued_at = now()")
    receive(consumer, 1, within=10)


def test_the_depth_is_counted_no_further_than_anybody_needs(postgres_queue: Queue) -> None:
    postgres_queue.bells(MAX_DEPTH + 1)
    execute(postgres_queue, "UPDATE executions SET queued_at = now()")
    assert postgres_queue.publisher().depth(RefType.CALL) == MAX_DEPTH


def test_a_busy_consumer_is_not_woken_without_end(postgres_queue: Queue) -> None:
    publisher, consumer = postgres_queue.publisher(), postgres_queue.consumer(prefetch=1)
    postgres_queue.ring(publisher, postgres_queue.bells(1))
    receive(consumer, 1)
    postgres_queue.ring(publisher, postgres_queue.bells(3))
    used = time.process_time()
    assert consumer.receive(limit=1, timeout=1) == []
    assert time.process_time() - used < 0.5


@pytest.mark.parametrize("driver", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_every_spelling_of_the_database_is_understood(database_url: str, driver: str) -> None:  # checklist 309
    url = database_url.replace("postgresql", driver, 1)
    with closing(open_publisher(POSTGRES, url)) as publisher:
        assert publisher.depth(RefType.JOB) == 0


def test_both_sides_recover_when_the_database_is_killed_and_comes_back(own_postgres: PostgresServer) -> None:
    url = own_postgres.create_database()
    with (
        closing(open_publisher(POSTGRES, url)) as publisher,
        closing(open_consumer(POSTGRES, url, kind=RefType.CALL, prefetch=1)) as consumer,
    ):
        assert publisher.depth(RefType.CALL) == 0
        assert consumer.receive(limit=1, timeout=0) == []
        assert consumer.connected()
        own_postgres.kill()
        assert publisher.depth(RefType.CALL) is None
        assert consumer.receive(limit=1, timeout=0.1) == []
        assert not publisher.connected()
        assert not consumer.connected()
        own_postgres.start()
        wait_until(lambda: publisher.depth(RefType.CALL) == 0, within=10, what="the depth is known again")
        wait_until(lambda: consumer.receive(limit=1, timeout=0) or consumer.connected(), within=10, what="it looks")

"""Which queue a URL means, and what it may say about the connection."""

from contextlib import closing

import pytest

from scheduler.domain.states import RefType
from scheduler.queue import open_consumer, open_publisher
from scheduler.queue.postgres.consumer import PostgresConsumer
from scheduler.queue.postgres.publisher import PostgresPublisher
from scheduler.queue.rabbitmq.link import connection_parameters


def test_the_word_postgres_means_the_database() -> None:
    with (
        closing(open_publisher("postgres", "postgresql://nowhere")) as publisher,
        closing(open_consumer("postgres", "postgresql://nowhere", kind=RefType.JOB, prefetch=1)) as consumer,
    ):
        assert isinstance(publisher, PostgresPublisher)
        assert isinstance(consumer, PostgresConsumer)


def test_connections_have_heartbeats_unless_the_url_says_otherwise() -> None:
    assert connection_parameters("amqp://localhost/vhost", "me").heartbeat == 15
    assert connection_parameters("amqp://localhost/vhost?heartbeat=0", "me").heartbeat == 0


def test_connections_are_kept_alive_and_named() -> None:
    parameters = connection_parameters("amqp://localhost", "me")
    assert parameters.tcp_options
    assert parameters.client_properties == {"connection_name": "me"}


def test_amqps_verifies_the_server() -> None:
    options = connection_parameters("amqps://localhost", "me").ssl_options
    assert options.context.check_hostname


@pytest.mark.parametrize("url", ["http://localhost", "rabbit"])
def test_what_is_no_url_of_a_queue_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="scheme"):
        open_publisher(url, "")

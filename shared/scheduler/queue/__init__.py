"""The bell: RabbitMQ, or PostgreSQL for small installations; both keep the promises of `scheduler.ports`.

Nothing is connected when a publisher or consumer is returned; that happens by itself, now and after each loss.
"""

from scheduler.domain.states import RefType
from scheduler.ports import Consumer, Publisher
from scheduler.queue.postgres.consumer import PostgresConsumer
from scheduler.queue.postgres.publisher import PostgresPublisher
from scheduler.queue.rabbitmq.consumer import RabbitConsumer
from scheduler.queue.rabbitmq.publisher import RabbitPublisher

POSTGRES = "postgres"  # the QUEUE_URL that says: use the database


def open_publisher(queue_url: str, database_url: str) -> Publisher:
    """Return the publisher that `queue_url` asks for. Raises ValueError for a URL that is none."""
    if queue_url == POSTGRES:
        return PostgresPublisher(database_url)
    return RabbitPublisher(queue_url)


def open_consumer(queue_url: str, database_url: str, *, kind: RefType, prefetch: int) -> Consumer:
    """Return the consumer that `queue_url` asks for. Raises ValueError for a URL that is none.

    `prefetch` is how many deliveries may be in hand (more by `take_ahead`), unsettled, at a time.
    """
    if queue_url == POSTGRES:
        return PostgresConsumer(database_url, kind=kind, prefetch=prefetch)
    return RabbitConsumer(queue_url, kind=kind, prefetch=prefetch)

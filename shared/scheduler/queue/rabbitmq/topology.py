"""What exists in RabbitMQ: one exchange, a quorum queue per kind, and the dead letters.

Declaring is idempotent, and done anew on each connection. A queue that exists with other arguments is refused by
RabbitMQ (406): an operator has to delete it first.
"""

from collections.abc import Callable
from typing import Any

from pika.channel import Channel

from scheduler.domain.states import RefType

EXCHANGE = "scheduler"
DEAD_LETTERS = "scheduler.dead"
DELIVERY_LIMIT = 20
# For an operator to look at, not a store: the rows are the truth. The oldest are dropped.
MAX_DEAD_LETTERS = 10_000

_QUORUM = {"x-queue-type": "quorum"}
_ARGUMENTS = {
    **_QUORUM,
    "x-delivery-limit": DELIVERY_LIMIT,
    "x-dead-letter-exchange": "",
    "x-dead-letter-routing-key": DEAD_LETTERS,
}


def queue_name(kind: RefType) -> str:
    """Return the name of the queue, which is its routing key too."""
    return f"scheduler.{kind}"


def declare(channel: Channel, on_done: Callable[[], None]) -> None:
    """Declare everything, then call `on_done`. RabbitMQ answers in order, so the last answer speaks for all."""
    channel.exchange_declare(EXCHANGE, exchange_type="direct", durable=True, callback=_ignore)
    channel.queue_declare(
        DEAD_LETTERS, durable=True, arguments={**_QUORUM, "x-max-length": MAX_DEAD_LETTERS}, callback=_ignore
    )
    for kind in RefType:
        channel.queue_declare(queue_name(kind), durable=True, arguments=_ARGUMENTS, callback=_ignore)
    *others, last = RefType
    for kind in others:
        channel.queue_bind(queue_name(kind), EXCHANGE, queue_name(kind), callback=_ignore)
    channel.queue_bind(queue_name(last), EXCHANGE, queue_name(last), callback=lambda _ok: on_done())


def count_ready(channel: Channel, kind: RefType, on_done: Callable[[int], None]) -> None:
    """Call `on_done` with the number of messages that nobody holds; without a queue RabbitMQ closes the channel."""

    def answer(declared: Any) -> None:
        on_done(declared.method.message_count)

    channel.queue_declare(queue_name(kind), passive=True, callback=answer)


def _ignore(_answer: object) -> None:
    pass

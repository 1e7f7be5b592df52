"""What exists in RabbitMQ: one exchange, a quorum queue per kind, and the dead letters.

Declaring is idempotent, and done anew on each connection and whenever a queue turns out to be missing. A queue that
exists with other arguments is refused by RabbitMQ (406): an operator has to delete it first.
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
    last = list(RefType)[-1]
    for kind in RefType:
        declare_queue(channel, kind, (lambda _ready: on_done()) if kind is last else _ignore)


def declare_queue(channel: Channel, kind: RefType, on_done: Callable[[int], None]) -> None:
    """Declare the queue of `kind`, bind it, then call `on_done` with the number of its ready messages."""

    def bind(declared: Any) -> None:
        ready = declared.method.message_count
        channel.queue_bind(queue_name(kind), EXCHANGE, queue_name(kind), callback=lambda _ok: on_done(ready))

    channel.queue_declare(queue_name(kind), durable=True, arguments=_ARGUMENTS, callback=bind)


def _ignore(_answer: object) -> None:
    pass

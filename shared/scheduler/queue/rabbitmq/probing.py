"""Look at RabbitMQ once, changing nothing; for `scheduler doctor`."""

from dataclasses import dataclass, field

from pika import BlockingConnection
from pika.exceptions import AMQPError, ChannelClosedByBroker

from scheduler.domain.states import RefType
from scheduler.queue.rabbitmq.link import connection_parameters
from scheduler.queue.rabbitmq.topology import DEAD_LETTERS, queue_name

_NOT_FOUND = 404


class ProbeError(Exception):
    """RabbitMQ cannot be looked at; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueSeen:
    """One queue."""

    ready: int
    consumers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RabbitSeen:
    """RabbitMQ as it is; a queue that does not exist is None."""

    version: str
    queues: dict[str, QueueSeen | None] = field(default_factory=dict)

    @property
    def dead_letters(self) -> int:
        """Return how many messages nobody could read or deliver."""
        seen = self.queues.get(DEAD_LETTERS)
        return seen.ready if seen else 0


def probe(url: str) -> RabbitSeen:
    """Return what is there.

    Raises ProbeError when it does not answer or lets us see nothing, ValueError for a URL that is none.
    """
    parameters = connection_parameters(url, "scheduler doctor")
    try:
        connection = BlockingConnection(parameters)
    except (AMQPError, OSError) as error:
        raise ProbeError(_words(error)) from error
    try:
        names = [*(queue_name(kind) for kind in RefType), DEAD_LETTERS]
        return RabbitSeen(version=_version(connection), queues={name: _look_at(connection, name) for name in names})
    except (AMQPError, OSError) as error:
        raise ProbeError(_words(error)) from error
    finally:
        if connection.is_open:
            connection.close()


def _look_at(connection: BlockingConnection, name: str) -> QueueSeen | None:
    channel = connection.channel()  # a refusal closes it, so each queue has one of its own
    try:
        declared = channel.queue_declare(name, passive=True).method
    except ChannelClosedByBroker as refusal:
        if refusal.reply_code == _NOT_FOUND:
            return None
        raise
    channel.close()
    return QueueSeen(ready=declared.message_count, consumers=declared.consumer_count)


def _version(connection: BlockingConnection) -> str:
    properties = getattr(connection._impl, "server_properties", None) or {}  # noqa: SLF001 - only shown there
    version = properties.get("version", b"")
    return version.decode(errors="replace") if isinstance(version, bytes) else str(version)


def _words(error: BaseException) -> str:
    """Return the innermost reason; pika wraps what the system said in several layers, some of them without words."""
    inner = getattr(error, "exception", None) or (error.args[0] if error.args else None)
    while isinstance(inner, BaseException) and inner is not error:
        error, inner = inner, getattr(inner, "exception", None) or (inner.args[0] if inner.args else None)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__

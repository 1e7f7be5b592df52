"""Publish with asynchronous confirms: many messages under way, and an answer only about those that are safe."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from pika import BasicProperties
from pika.channel import Channel
from pika.exceptions import AMQPError
from pika.spec import Basic

from scheduler.domain.states import RefType
from scheduler.messages import Bell
from scheduler.queue.rabbitmq import topology
from scheduler.queue.rabbitmq.link import Link

# More gain nothing: RabbitMQ confirms in groups of a few dozen.
MAX_IN_FLIGHT = 1_000
DEPTH_SECONDS = 5.0  # a RabbitMQ that has not answered such a question by then needs to be asked anew
_PERSISTENT = 2


class _Batch:
    """What one `publish` is waiting for; filled by the link's thread, read by the caller's."""

    def __init__(self, bells: Sequence[Bell]) -> None:
        self.over = threading.Event()
        self._unsent = iter(bells)
        self._open = len(bells)
        self._confirmed: set[UUID] = set()
        self._lock = threading.Lock()

    def next(self) -> Bell | None:
        return None if self.over.is_set() else next(self._unsent, None)

    def settle(self, guid: UUID, *, confirmed: bool) -> None:
        with self._lock:
            self._open -= 1
            if confirmed and not self.over.is_set():
                self._confirmed.add(guid)
            if self._open == 0:
                self.over.set()

    def end(self) -> set[UUID]:
        """Return what is confirmed by now; later confirms are not counted, later messages not sent."""
        with self._lock:
            self.over.set()
            return self._confirmed


class _Question:
    """How many messages are ready? `over` when there is an answer, or will be none."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.answer: int | None = None

    def settle(self, answer: int) -> None:
        self.answer = answer
        self.over.set()


class RabbitPublisher:
    """The relay's way to RabbitMQ (`scheduler.ports.Publisher`)."""

    def __init__(self, url: str, *, name: str = "ocf-scheduler publisher") -> None:
        self._batch = _Batch([])
        self._question = _Question()
        # From here on the link's thread alone touches what follows, but for reading `_ready` and `_blocked`.
        self._channel: Any = None
        self._ready = False
        self._blocked = False
        self._sent = 0  # messages on this channel: RabbitMQ counts them in its confirms
        self._in_flight: OrderedDict[int, tuple[_Batch, UUID]] = OrderedDict()
        self._link = Link(url, name=name, on_channel=self._channel_opened, on_lost=self._lost)
        self._link.start()

    def publish(self, bells: Sequence[Bell], *, timeout: float) -> set[UUID]:
        """Publish and wait for the confirms; see `scheduler.ports.Publisher`."""
        if not bells or not self.connected():
            return set()
        # Set before the call, so that a connection that is lost meanwhile ends this batch and not only the last one.
        self._batch = batch = _Batch(bells)
        self._await(batch.over, timeout, self._send)
        return batch.end()

    def depth(self, kind: RefType) -> int | None:
        """Return the number of ready messages."""
        if not self.connected():
            return None
        self._question = question = _Question()
        self._await(question.over, DEPTH_SECONDS, lambda: self._ask(kind, question))
        return question.answer

    def _await(self, over: threading.Event, timeout: float, act: Callable[[], None]) -> None:
        """Act in the link's thread and wait until it is over; a RabbitMQ that owes us an answer needs a fresh start."""
        if self._link.call(act) and not over.wait(timeout):
            self._link.call(lambda: self._link.renew("it does not answer in time"))

    def connected(self) -> bool:
        """Tell whether a message could be published now."""
        return self._ready and not self._blocked

    def close(self) -> None:
        """Let the connection go."""
        self._link.close()

    def _channel_opened(self, channel: Channel) -> None:
        self._channel = channel
        channel.connection.add_on_connection_blocked_callback(lambda *_: self._block())
        channel.connection.add_on_connection_unblocked_callback(lambda *_: self._unblock())
        channel.add_on_return_callback(self._on_return)
        channel.confirm_delivery(self._on_confirm, callback=lambda _ok: topology.declare(channel, self._declared))

    def _declared(self) -> None:
        self._link.settled()
        self._ready = True

    def _lost(self) -> None:
        self._ready = self._blocked = False
        self._channel = None
        self._sent = 0
        self._in_flight.clear()
        self._batch.end()
        self._question.over.set()

    def _block(self) -> None:
        """RabbitMQ is short of memory or disk and reads nothing more from us: nobody should wait for it."""
        self._blocked = True
        self._batch.end()

    def _unblock(self) -> None:
        self._blocked = False

    def _send(self) -> None:
        batch = self._batch
        if not self.connected():
            batch.end()
            return
        try:
            while len(self._in_flight) < MAX_IN_FLIGHT and (bell := batch.next()):
                self._send_one(batch, bell)
        except AMQPError as error:
            self._link.renew(error)

    def _send_one(self, batch: _Batch, bell: Bell) -> None:
        self._channel.basic_publish(
            topology.EXCHANGE,
            topology.queue_name(bell.kind),
            bell.encode(),
            BasicProperties(content_type="application/json", delivery_mode=_PERSISTENT, message_id=str(bell.execution)),
            mandatory=True,
        )
        self._sent += 1
        self._in_flight[self._sent] = (batch, bell.execution)

    def _on_return(self, _channel: Channel, method: Any, _properties: object, _body: bytes) -> None:
        """No queue took the message: declare everything anew, on a channel that remembers nothing of the old queue.

        RabbitMQ confirms such a message all the same, right after this; `_ready` says that it means nothing.
        """
        self._ready = False
        self._link.renew(method)

    def _on_confirm(self, frame: Any) -> None:
        taken = self._take(frame.method.delivery_tag, multiple=frame.method.multiple)
        acknowledged = self._ready and isinstance(frame.method, Basic.Ack)
        for batch, guid in taken:
            batch.settle(guid, confirmed=acknowledged)
        self._send()

    def _take(self, tag: int, *, multiple: bool) -> list[tuple[_Batch, UUID]]:
        if not multiple:
            return [self._in_flight.pop(tag)] if tag in self._in_flight else []
        taken = []
        while self._in_flight and next(iter(self._in_flight)) <= tag:
            taken.append(self._in_flight.popitem(last=False)[1])
        return taken

    def _ask(self, kind: RefType, question: _Question) -> None:
        try:
            topology.count_ready(self._channel, kind, question.settle)
        except (AMQPError, ValueError) as error:
            self._link.renew(error)

"""Publish with asynchronous confirms: many messages under way, and an answer only about those that are safe."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
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
DEPTH_SECONDS = 2.0
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


class RabbitPublisher:
    """The relay's way to RabbitMQ (`scheduler.ports.Publisher`)."""

    def __init__(self, url: str, *, name: str = "ocf-scheduler publisher") -> None:
        self._batch = _Batch([])
        # From here on the link's thread alone touches what follows, but for reading `_ready` and `_blocked`.
        self._channel: Any = None
        self._ready = False
        self._blocked = False
        self._sent = 0  # messages on this channel: RabbitMQ counts them in its confirms
        self._in_flight: OrderedDict[int, tuple[_Batch, UUID]] = OrderedDict()
        self._returned: set[str] = set()
        self._link = Link(url, name=name, on_channel=self._channel_opened, on_lost=self._lost)
        self._link.start()

    def publish(self, bells: Sequence[Bell], *, timeout: float) -> set[UUID]:
        """Publish and wait for the confirms; see `scheduler.ports.Publisher`."""
        if not bells or not self.connected():
            return set()
        # Set before the call, so that a connection that is lost meanwhile ends this batch and not only the last one.
        self._batch = batch = _Batch(bells)
        if self._link.call(self._send):
            batch.over.wait(timeout)
        return batch.end()

    def depth(self, kind: RefType) -> int | None:
        """Return the number of ready messages; a queue that was deleted is declared again by that."""
        if not self.connected():
            return None
        answered = threading.Event()
        answers: list[int] = []

        def answer(ready: int) -> None:
            answers.append(ready)
            answered.set()

        self._link.call(lambda: self._declare_queue(kind, answer))
        answered.wait(DEPTH_SECONDS)
        return answers[0] if answers else None

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
        self._returned.clear()
        self._batch.end()

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

    def _on_return(self, channel: Channel, _method: Any, properties: Any, _body: bytes) -> None:
        """No queue took the message; its confirm comes all the same, right after this."""
        self._returned.add(properties.message_id)
        if self._ready:
            self._ready = False
            topology.declare(channel, self._declared)

    def _on_confirm(self, frame: Any) -> None:
        taken = self._take(frame.method.delivery_tag, multiple=frame.method.multiple)
        acknowledged = isinstance(frame.method, Basic.Ack)
        for batch, guid in taken:
            batch.settle(guid, confirmed=acknowledged and not self._was_returned(guid))
        self._send()

    def _was_returned(self, guid: UUID) -> bool:
        if not self._returned or str(guid) not in self._returned:
            return False
        self._returned.remove(str(guid))
        return True

    def _take(self, tag: int, *, multiple: bool) -> list[tuple[_Batch, UUID]]:
        if not multiple:
            return [self._in_flight.pop(tag)] if tag in self._in_flight else []
        taken = []
        while self._in_flight and next(iter(self._in_flight)) <= tag:
            taken.append(self._in_flight.popitem(last=False)[1])
        return taken

    def _declare_queue(self, kind: RefType, on_done: Any) -> None:
        try:
            topology.declare_queue(self._channel, kind, on_done)
        except AMQPError as error:
            self._link.renew(error)

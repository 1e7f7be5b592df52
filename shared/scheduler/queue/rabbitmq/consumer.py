"""Consume: deliveries are gathered for the runner, acknowledgements for RabbitMQ."""

import logging
import threading
from collections import deque
from collections.abc import Iterable
from typing import Any

from pika.channel import Channel
from pika.exceptions import AMQPError

from scheduler.domain.states import RefType
from scheduler.messages import Bell, UnreadableMessageError, decode
from scheduler.ports import Delivery
from scheduler.queue.rabbitmq import topology
from scheduler.queue.rabbitmq.deliveries import Unsettled
from scheduler.queue.rabbitmq.link import Link

_log = logging.getLogger(__name__)

SETTLE_TOGETHER_SECONDS = 0.002

_SHARE = 4  # a new consumption is worth it for this part of the wanted credit

# A delivery's tag: the channel that it came by, and its number there. Of a lost channel RabbitMQ has taken all back.
_Tag = tuple[int, int]


class RabbitConsumer:
    """A runner's way to RabbitMQ (`scheduler.ports.Consumer`)."""

    def __init__(self, url: str, *, kind: RefType, prefetch: int, name: str = "ocf-scheduler consumer") -> None:
        self._kind = kind
        self._prefetch = prefetch
        self._unreadable_count = 0
        # Shared by the threads, under the lock.
        self._lock = threading.Condition()
        self._arrived: deque[Delivery] = deque()
        self._done: set[int] = set()
        self._given_back: set[int] = set()
        self._flush_due = False
        self._generation = 0
        self._paused = False
        self._ahead = 0
        self._ready = False
        self._closed = False
        # The link's thread alone touches these.
        self._channel: Any = None
        self._unsettled = Unsettled()
        self._consumptions: list[str] = []
        self._credit = 0  # of all consumptions together
        self._orphans: set[int] = set()  # unsettled deliveries that count for none of them
        self._link = Link(url, name=name, on_channel=self._channel_opened, on_lost=self._lost)
        self._link.start()

    @property
    def unreadable_count(self) -> int:
        """How many messages went to the dead letters because nobody could read them."""
        return self._unreadable_count

    def receive(self, *, limit: int, timeout: float) -> list[Delivery]:
        """Return what has arrived; see `scheduler.ports.Consumer`."""
        with self._lock:
            self._lock.wait_for(lambda: self._arrived or self._closed, timeout)
            return [self._arrived.popleft() for _ in range(min(limit, len(self._arrived)))]

    def acknowledge(self, deliveries: Iterable[Delivery]) -> None:
        """Settle these."""
        with self._lock:
            self._done.update(self._current(deliveries))
            self._flush_soon()

    def give_back(self, deliveries: Iterable[Delivery]) -> None:
        """Let RabbitMQ deliver these again, to whomever."""
        with self._lock:
            self._given_back.update(self._current(deliveries))
            self._flush_soon()

    def take_ahead(self, count: int) -> None:
        """Take more; see `scheduler.ports.Consumer`."""
        with self._lock:
            self._ahead = count
            self._link.call(self._follow_wish)

    def pause(self) -> None:
        """Take nothing new and give back what nobody has received."""
        with self._lock:
            self._paused = True
            self._link.call(self._follow_wish)

    def resume(self) -> None:
        """Take deliveries again."""
        with self._lock:
            self._paused = False
            self._link.call(self._follow_wish)

    def connected(self) -> bool:
        """Tell whether RabbitMQ delivers to us, or would if we were not paused."""
        return self._ready

    def close(self) -> None:
        """Send the last acknowledgements and let the connection go; RabbitMQ takes the rest back by itself."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()
            self._link.call(self._flush)
        self._link.close()

    def _current(self, deliveries: Iterable[Delivery]) -> list[int]:
        tags: list[_Tag] = [delivery.tag for delivery in deliveries]  # type: ignore[misc]
        return [number for generation, number in tags if generation == self._generation]

    def _flush_soon(self) -> None:
        """Have the link's thread send what is settled: once, however many threads settle something meanwhile."""
        if not self._flush_due and (self._done or self._given_back):
            self._flush_due = self._link.call(self._flush_in_a_moment)

    def _flush_in_a_moment(self) -> None:
        """Let more be settled meanwhile: a wake-up and a write for each would cost more than settling it."""
        self._link.later(SETTLE_TOGETHER_SECONDS, self._flush)

    def _flush(self) -> None:
        self._settle()
        if self._orphans:
            self._follow_wish()

    def _settle(self) -> None:
        """Send what was acknowledged and given back."""
        with self._lock:
            self._flush_due = False
            done, self._done = self._done, set()
            given_back, self._given_back = self._given_back, set()
        try:
            for tag in self._unsettled.remove(sorted(given_back)):
                self._channel.basic_nack(tag, requeue=True)
            for tag, multiple in self._unsettled.settle(done):
                self._channel.basic_ack(tag, multiple=multiple)
        except AMQPError as error:
            self._link.renew(error)

    def _channel_opened(self, channel: Channel) -> None:
        self._channel = channel
        channel.add_on_cancel_callback(self._on_cancelled)
        topology.declare(channel, self._declared)

    def _declared(self) -> None:
        self._link.settled()
        self._ready = True
        self._follow_wish()

    def _on_cancelled(self, frame: Any) -> None:
        """RabbitMQ ended the consumption: the queue was deleted, or its leader is gone."""
        self._link.renew(frame.method)

    def _follow_wish(self) -> None:
        """Consume as much as was last asked for; before the queue is declared this has to wait."""
        if not self._ready:
            return
        wanted = 0 if self._paused else self._prefetch + self._ahead
        try:
            if self._credit > wanted:
                self._cease()
            self._consume(wanted)
        except AMQPError as error:
            self._link.renew(error)

    def _cease(self) -> None:
        """End all consumptions: RabbitMQ cannot take back a part of what it granted to one."""
        for tag in self._consumptions:
            self._channel.basic_cancel(tag)
        self._consumptions.clear()
        self._credit = 0
        self._return_unreceived()
        self._orphans = self._unsettled.tags()

    def _consume(self, wanted: int) -> None:
        """Begin one more consumption for what the others leave of the wanted credit, unless that is little.

        RabbitMQ counts for each what was delivered and not settled; what ended ones delivered is counted here.
        """
        self._orphans &= self._unsettled.tags()
        missing = wanted - self._credit - len(self._orphans)
        if missing > 0 and (missing >= wanted // _SHARE or not self._orphans):
            self._channel.basic_qos(prefetch_count=missing)
            self._consumptions.append(self._channel.basic_consume(topology.queue_name(self._kind), self._on_message))
            self._credit += missing

    def _return_unreceived(self) -> None:
        """Give back what RabbitMQ had sent ahead; not before cancelling, or it would come straight back."""
        with self._lock:
            self._given_back.update(self._current(self._arrived))
            self._arrived.clear()
        self._settle()

    def _on_message(self, channel: Channel, method: Any, _properties: object, body: bytes) -> None:
        try:
            bell = self._read(body)
        except UnreadableMessageError as error:
            self._bury(channel, method.delivery_tag, error)
            return
        if self._paused:  # it was on its way when we cancelled
            channel.basic_nack(method.delivery_tag, requeue=True)
            return
        self._unsettled.add(method.delivery_tag)
        with self._lock:
            self._arrived.append(Delivery(bell=bell, tag=(self._generation, method.delivery_tag)))
            self._lock.notify()

    def _read(self, body: bytes) -> Bell:
        bell = decode(body)
        if bell.kind is not self._kind:
            raise UnreadableMessageError(f"a message about a {bell.kind} in the queue of {self._kind}s")
        return bell

    def _bury(self, channel: Channel, tag: int, error: UnreadableMessageError) -> None:
        self._unreadable_count += 1
        _log.error(
            f"A message goes to the dead letters: {error}",
            extra={"action": "queue_message_unreadable", "kind": self._kind},
        )
        channel.basic_reject(tag, requeue=False)

    def _lost(self) -> None:
        self._channel = None
        self._unsettled = Unsettled()
        self._consumptions.clear()
        self._credit = 0
        self._orphans.clear()
        with self._lock:
            self._ready = False
            self._generation += 1
            self._flush_due = False
            self._arrived.clear()
            self._done.clear()
            self._given_back.clear()

"""A runner: one thread receives and claims, a fixed number of threads perform, one finishes; SIGTERM drains them."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from scheduler.domain.claims import Claimed, GiveBack, Outcome
from scheduler.ports import Consumer, Delivery
from scheduler.running import metrics
from scheduler.running.claiming import Claimer
from scheduler.running.finishing import Finisher
from scheduler.running.liveness import Liveness
from scheduler.runtime.loops import Stop, start_thread

_log = logging.getLogger(__name__)

RECEIVE_SECONDS = 0.5

MayStart = Callable[[], bool]


class Performer(Protocol):
    """The work itself, outside any transaction."""

    def perform(self, claimed: Claimed, may_start: MayStart) -> Outcome | None:
        """Do it; ask `may_start` right before anything that cannot be taken back.

        None: the execution goes on elsewhere (a task that is followed), and nothing is to be written.
        """

    def on_stop(self, claimed: Claimed) -> Outcome | None:
        """Return what to write for work that did not end within the grace; None: others go on with it."""


@dataclass
class _Item:
    claimed: Claimed
    delivery: Delivery
    generation: UUID


@dataclass
class Runner:
    """Ties the parts together. `start` returns at once; `drain` is called once, after `stop` was set."""

    consumer: Consumer
    claimer: Claimer
    finisher: Finisher
    liveness: Liveness
    performer: Performer
    workers: int
    stop: Stop
    _work: "queue.SimpleQueue[_Item | None]" = field(default_factory=queue.SimpleQueue)
    _free: threading.Semaphore = field(init=False)
    _open: dict[UUID, Claimed] = field(default_factory=dict)
    _threads: list[threading.Thread] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._free = threading.Semaphore(self.workers)

    def start(self) -> None:
        """Start every thread."""
        self._threads = [start_thread(f"perform-{n}", self._perform_all) for n in range(self.workers)]
        self._threads.append(start_thread("claim", self._claim_all))

    def _claim_all(self) -> None:
        self.liveness.await_first_beat(self.stop)
        while not self.stop.is_set():
            room = self._take_room()
            deliveries = self.consumer.receive(limit=room, timeout=RECEIVE_SECONDS)
            self._give_room(room - len(deliveries))
            if deliveries:
                self._claim(deliveries)

    def _claim(self, deliveries: list[Delivery]) -> None:
        if self.stop.is_set():
            self.consumer.give_back(deliveries)
            return
        claims = self.claimer.claim(deliveries)
        self._give_room(len(deliveries) - len(claims.taken))
        for claimed, delivery in claims.taken:
            self._open[claimed.guid] = claimed
            self._work.put(_Item(claimed, delivery, claims.generation))

    def _take_room(self) -> int:
        """Wait for one free thread, then count those that are free besides."""
        self._free.acquire()
        room = 1
        while room < self.workers and self._free.acquire(blocking=False):
            room += 1
        return room

    def _give_room(self, count: int) -> None:
        if count > 0:
            self._free.release(count)

    def _perform_all(self) -> None:
        while (item := self._work.get()) is not None:
            outcome = self._perform(item)
            self.consumer.acknowledge([item.delivery])
            self._free.release()
            # Whoever takes it out writes it: this thread, or the drain that lost patience.
            if self._open.pop(item.claimed.guid, None) is not None and outcome is not None:
                self.finisher.put(item.claimed, outcome)

    def _perform(self, item: _Item) -> Outcome | None:
        def may_start() -> bool:
            return not self.stop.is_set() and self.liveness.owns(item.generation)

        if not may_start():
            return GiveBack(look_up_first=item.claimed.look_up_first)
        metrics.observe_start(item.claimed)
        return self.performer.perform(item.claimed, may_start)

    def drain(self, grace_seconds: float) -> None:
        """Let work at hand end within the grace, then write what became of the rest."""
        deadline = time.monotonic() + grace_seconds
        for _ in range(self.workers):
            self._work.put(None)
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        for guid in list(self._open):
            claimed = self._open.pop(guid, None)
            outcome = self.performer.on_stop(claimed) if claimed else None
            if claimed and outcome:
                self.finisher.put(claimed, outcome)
        self.consumer.close()

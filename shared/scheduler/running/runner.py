"""A runner: one thread receives and claims, a fixed number of threads perform; SIGTERM drains them."""

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
from scheduler.running.hand import AHEAD, LOOK_SECONDS, Hand, Pace
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

    def on_fault(self, claimed: Claimed) -> Outcome:
        """Return what to write when `perform` failed by a fault of its own."""


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
    pace: Pace = field(default_factory=lambda: Pace(time.monotonic()))
    _work: "queue.SimpleQueue[_Item | None]" = field(default_factory=queue.SimpleQueue)
    _hand: Hand = field(init=False)
    # By execution and claim: an attempt that was given up as lost may still be under way when the next one begins here.
    _under_way: dict[tuple[UUID, UUID], _Item] = field(default_factory=dict)
    _performing: list[threading.Thread] = field(default_factory=list)
    _claiming: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._hand = Hand(self.workers)

    def start(self) -> None:
        """Start every thread."""
        self.liveness.under_way = self._generations_under_way
        self._performing = [start_thread(f"perform-{n}", self._perform_all) for n in range(self.workers)]
        self._claiming = start_thread("claim", self._claim_all)

    def _claim_all(self) -> None:
        self.liveness.await_first_beat(self.stop)
        while not self.stop.is_set():
            self._keep_pace()
            seconds = LOOK_SECONDS if self.pace.is_fast else RECEIVE_SECONDS
            room = self._hand.await_room(seconds)
            if room and (deliveries := self.consumer.receive(limit=room, timeout=seconds)):
                self._claim(deliveries)

    def _claim(self, deliveries: list[Delivery]) -> None:
        if self.stop.is_set():
            self.consumer.give_back(deliveries)
            return
        claims = self.claimer.claim(deliveries)
        self._hand.take(len(claims.taken))
        for claimed, delivery in claims.taken:
            self._work.put(_Item(claimed, delivery, claims.generation))

    def _keep_pace(self) -> None:
        """Begin or cease to claim ahead."""
        was_fast = self.pace.is_fast
        is_fast = self.pace.look(self._hand.ended, time.monotonic())
        if is_fast != was_fast:
            ahead = AHEAD if is_fast else 0
            self._hand.claim_ahead(ahead)
            self.consumer.take_ahead(ahead)
            metrics.AHEAD.set(ahead)
        if was_fast and not is_fast:
            self._give_back_unbegun()

    def _give_back_unbegun(self) -> None:
        """Let other runners have what was claimed ahead and no thread has begun."""
        while self._hand.surplus() > 0:
            item = self._next_unbegun()
            if item is None:
                break
            self.consumer.acknowledge([item.delivery])
            self._hand.release()
            self.finisher.put(item.claimed, _give_back(item.claimed))

    def _perform_all(self) -> None:
        while (item := self._work.get()) is not None:
            self._under_way[item.claimed.guid, item.claimed.claim_token] = item
            outcome = self._perform(item)
            self.consumer.acknowledge([item.delivery])
            self._hand.release()
            self._end(item.claimed, outcome)

    def _end(self, claimed: Claimed, outcome: Outcome | None) -> None:
        """Hand the outcome over, unless somebody did before: this thread, or the drain that lost patience."""
        if self._under_way.pop((claimed.guid, claimed.claim_token), None) is not None and outcome is not None:
            self.finisher.put(claimed, outcome)

    def _perform(self, item: _Item) -> Outcome | None:
        def may_start() -> bool:
            return not self.stop.is_set() and self.liveness.owns(item.generation)

        if not may_start():
            return _give_back(item.claimed)
        metrics.observe_start(item.claimed)
        try:
            return self.performer.perform(item.claimed, may_start)
        except Exception:  # noqa: BLE001 - one execution must not take the runner with it, again and again
            _log.exception(
                "An execution could not be performed because of a fault in the scheduler.",
                extra={"action": "perform_failed", "execution_guid": str(item.claimed.guid)},
            )
            return self.performer.on_fault(item.claimed)

    def _generations_under_way(self) -> set[UUID]:
        return {item.generation for item in list(self._under_way.values())}

    def drain(self, grace_seconds: float) -> None:
        """Take nothing more, let work at hand end within the grace, then settle what became of the rest."""
        deadline = time.monotonic() + grace_seconds
        self.consumer.pause()
        self._claiming.join(max(0.0, deadline - time.monotonic()))
        for _ in self._performing:
            self._work.put(None)
        for thread in self._performing:
            thread.join(max(0.0, deadline - time.monotonic()))
        self._settle_unfinished()

    def _settle_unfinished(self) -> None:
        for item in list(self._under_way.values()):
            self._end(item.claimed, self.performer.on_stop(item.claimed))
        while (unbegun := self._next_unbegun()) is not None:
            self.finisher.put(unbegun.claimed, _give_back(unbegun.claimed))

    def _next_unbegun(self) -> _Item | None:
        """Return what waits for a thread; a thread may take the last one at the same moment."""
        try:
            while (item := self._work.get_nowait()) is None:
                pass
        except queue.Empty:
            return None
        return item


def _give_back(claimed: Claimed) -> GiveBack:
    return GiveBack(look_up_first=claimed.look_up_first)

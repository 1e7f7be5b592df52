"""Consume by looking: at once when the relay rings, and each second in case a ring was lost."""

import logging
import random
import threading
import time
from collections.abc import Iterable
from uuid import UUID

import psycopg2

from scheduler.domain.states import RefType
from scheduler.messages import Bell
from scheduler.ports import Delivery
from scheduler.queue.postgres.listener import Listener

_log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
# Each consumer picks at random among this many times the rows it wants. Were all to take the oldest, all but one
# would lose the claims of a whole round; picking so, they mostly miss each other.
CHOICE = 4
_choice = random.SystemRandom()
_LOOK = """
    SELECT guid::text FROM executions
    WHERE ref_type = %s AND state = 'PENDING' AND queued_at IS NOT NULL
        AND (not_before IS NULL OR not_before <= now()) AND guid <> ALL (%s::uuid[])
    ORDER BY queued_at, guid LIMIT %s
"""


class PostgresConsumer:
    """A runner's way to the queue (`scheduler.ports.Consumer`)."""

    def __init__(self, database_url: str, *, kind: RefType, prefetch: int) -> None:
        self._kind = kind
        self._prefetch = prefetch
        self._ahead = 0
        self._in_hand: set[UUID] = set()
        self._lock = threading.Lock()  # guards what is in hand
        self._receiving = threading.Lock()  # held by who uses the listener
        self._listener = Listener(database_url, kind)
        self._paused = False
        self._closed = False
        self._answers = False

    @property
    def unreadable_count(self) -> int:
        """Return 0: a row can always be read."""
        return 0

    def receive(self, *, limit: int, timeout: float) -> list[Delivery]:
        """Return rows that wait; see `scheduler.ports.Consumer`."""
        deadline = time.monotonic() + timeout
        with self._receiving:
            while not self._closed:
                guids = self._look(limit)
                if guids:
                    return [Delivery(bell=Bell(execution=guid, kind=self._kind), tag=guid) for guid in guids]
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._listener.wait(min(remaining, POLL_SECONDS))
        return []

    def acknowledge(self, deliveries: Iterable[Delivery]) -> None:
        """Forget these: their rows are no longer PENDING, or will be delivered again."""
        with self._lock:
            self._in_hand.difference_update(delivery.bell.execution for delivery in deliveries)
        self._listener.wake()

    def give_back(self, deliveries: Iterable[Delivery]) -> None:
        """Forget these: their rows wait for whoever looks next."""
        self.acknowledge(deliveries)

    def take_ahead(self, count: int) -> None:
        """Allow so many more in hand; nothing is ever taken before somebody receives it."""
        self._ahead = count

    def pause(self) -> None:
        """Look no more."""
        self._paused = True

    def resume(self) -> None:
        """Look again."""
        self._paused = False
        self._listener.wake()

    def connected(self) -> bool:
        """Tell whether the last look succeeded."""
        return self._answers

    def close(self) -> None:
        """Let the connection go; whoever waits in `receive` gets nothing."""
        self._closed = True
        self._listener.wake()
        with self._receiving:
            self._listener.close()

    def _look(self, limit: int) -> list[UUID]:
        with self._lock:
            in_hand = list(self._in_hand)
        wanted = min(limit, self._prefetch + self._ahead - len(in_hand))
        if self._paused or wanted <= 0:
            return []
        try:
            waiting = self._listener.query(_LOOK, (str(self._kind), [str(guid) for guid in in_hand], wanted * CHOICE))
        except psycopg2.Error as error:
            self._note(answers=False, error=error)
            return []
        self._note(answers=True)
        guids = [UUID(guid) for (guid,) in _choose(waiting, wanted)]
        with self._lock:
            self._in_hand.update(guids)
        return guids

    def _note(self, *, answers: bool, error: psycopg2.Error | None = None) -> None:
        """Log a change for the worse: once, not for each look."""
        if self._answers and not answers:
            _log.warning(
                f"The queue's database does not answer: {type(error).__name__}",
                extra={"action": "queue_unavailable", "kind": self._kind},
            )
        self._answers = answers


def _choose(waiting: list[tuple[str]], wanted: int) -> list[tuple[str]]:
    if len(waiting) <= wanted:
        return waiting
    chosen = _choice.sample(range(len(waiting)), wanted)
    return [waiting[index] for index in sorted(chosen)]

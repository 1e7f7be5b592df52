"""Relay: the only publisher. Rows that may be published are locked, published, and stamped once confirmed.

The row lock is the lease: a relay that dies releases it, and the next one publishes the rows again, which is
harmless. This is the one place where a transaction spans a remote call (docs/decisions).
"""

import logging
import time
from dataclasses import dataclass, field

from sqlalchemy import Engine

from scheduler.domain.states import RefType
from scheduler.ports import Publisher
from scheduler.runtime.timing import Timing
from scheduler.store.publishing import lock_publishable, requeue_lost, stamp_published
from scheduler_ticker import metrics
from scheduler_ticker.window import Window

_log = logging.getLogger(__name__)

BATCH = 1_000
CONFIRM_SECONDS = 8.0  # well below the 15 s after which PostgreSQL ends a transaction that waits
IDLE_SECONDS = 1.0
BACKLOG_SECONDS = 0.1


@dataclass
class Relay:
    """Publishes for both kinds; one thread calls `run_once`."""

    engine: Engine
    publisher: Publisher
    window: int
    timing: Timing
    rings_channel: bool  # whether stamping must also wake the consumers of the PostgreSQL queue
    _windows: dict[RefType, Window] = field(init=False)
    _after_space: dict[RefType, str] = field(default_factory=dict)
    _look_for_lost_at: float = 0.0

    def __post_init__(self) -> None:
        self._windows = {kind: Window(self.window) for kind in RefType}

    def run_once(self) -> float:
        """Publish what the window allows; return the seconds to pause."""
        pauses = [self._relay(kind) for kind in RefType]
        self._requeue_lost_now_and_then()
        return min(pauses)

    def _relay(self, kind: RefType) -> float:
        depth = self.publisher.depth(kind)
        if depth is None:
            return IDLE_SECONDS
        metrics.READY.labels(kind).set(depth)
        room = min(self._windows[kind].room(depth, time.monotonic()), BATCH)
        if room <= 0:
            return BACKLOG_SECONDS
        return 0.0 if self._publish(kind, room) else IDLE_SECONDS

    def _publish(self, kind: RefType, room: int) -> bool:
        """Publish up to `room` messages; return whether the next ones can follow at once."""
        with self.engine.begin() as connection:
            locked = lock_publishable(connection, kind, limit=room, after_space=self._after_space.get(kind, ""))
            self._after_space[kind] = locked.last_space
            bells = locked.bells
            if not bells:
                return False
            confirmed = self.publisher.publish(bells, timeout=CONFIRM_SECONDS)
            channel = f"scheduler_{kind}" if self.rings_channel else None
            stamp_published(connection, list(confirmed), channel=channel)
        metrics.PUBLISHED.inc(len(confirmed))
        self._windows[kind].note(len(confirmed))
        if len(confirmed) < len(bells):
            _log.warning(
                f"{len(bells) - len(confirmed)} messages were not confirmed and are published again.",
                extra={"action": "unconfirmed", "kind": kind},
            )
            return False
        return locked.more

    def _requeue_lost_now_and_then(self) -> None:
        now = time.monotonic()
        if self.rings_channel or now < self._look_for_lost_at:
            return
        self._look_for_lost_at = now + self.timing.presumed_lost_seconds / 30
        for kind in RefType:
            self._requeue_lost(kind)

    def _requeue_lost(self, kind: RefType) -> None:
        depth = self.publisher.depth(kind)
        if depth is None:
            return
        with self.engine.begin() as connection:
            count = requeue_lost(
                connection,
                kind,
                queue_is_empty=depth == 0,
                presumed_lost_seconds=self.timing.presumed_lost_seconds,
            )
        if count:
            metrics.REPUBLISHED.inc(count)
            _log.warning(
                f"{count} messages are presumed lost; their rows are published again.",
                extra={"action": "presumed_lost", "kind": kind},
            )

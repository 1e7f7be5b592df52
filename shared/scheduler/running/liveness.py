"""The process's heartbeat, and the generation under which it claims.

A process that was stopped, stalled or cut off for so long that others may soon declare it dead opens a new
generation: a new guid in `processes`. Claims of the older one are given back; but what was sent under it, and is still
under way, is kept alive, unless others have given it up already.
"""

import logging
import socket
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from scheduler import __version__
from scheduler.domain.guids import new_guid
from scheduler.runtime.loops import Stop, describe
from scheduler.runtime.timing import Timing
from scheduler.store import processes

_log = logging.getLogger(__name__)


def suspended_too() -> float:
    """Return seconds on a clock that also runs while the machine sleeps, where there is one."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass
class Liveness:
    """Beats in its own thread; asked by every thread that is about to start something."""

    engine: Engine
    service: str
    timing: Timing
    clock: Callable[[], float] = suspended_too
    generation: UUID = field(default_factory=new_guid)
    under_way: Callable[[], Collection[UUID]] = tuple  # the generations of whose work some is still being performed
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _beat_at: float | None = None  # just before the last beat that the database confirmed
    _unbroken_since: float | None = None

    def beat(self) -> float:
        """Beat once; return the seconds until the next beat."""
        started_at = self.clock()
        self._renew_if_stalled(started_at)
        with self.engine.begin() as connection:
            for generation in {self.generation, *self.under_way()}:
                processes.beat(
                    connection, generation, service=self.service, host=socket.gethostname(), version=__version__
                )
        with self._lock:
            self._beat_at = started_at
            if self._unbroken_since is None:
                self._unbroken_since = started_at
        return self.timing.heartbeat_seconds

    def _renew_if_stalled(self, now: float) -> None:
        with self._lock:
            if self._beat_at is None or now - self._beat_at <= self.timing.stall_seconds:
                return
            stalled_for = now - self._beat_at
            self.generation = new_guid()
            self._beat_at = self._unbroken_since = None
        _log.warning(
            f"The process made no heartbeat for {stalled_for:.0f} s and goes on as a new generation; "
            "what it had claimed before and not begun is given back.",
            extra={"action": "new_generation", "generation": str(self.generation)},
        )

    def owns(self, generation: UUID) -> bool:
        """Tell whether claims of `generation` may still start something: others surely count it as alive."""
        with self._lock:
            return (
                generation == self.generation
                and self._beat_at is not None
                and self.clock() - self._beat_at <= self.timing.stall_seconds
            )

    def unbroken_seconds(self) -> float:
        """Return for how long heartbeats have been getting through without a stall."""
        now = self.clock()
        with self._lock:
            if self._beat_at is None or self._unbroken_since is None:
                return 0.0
            return now - self._unbroken_since if now - self._beat_at <= self.timing.stall_seconds else 0.0

    def leave(self) -> None:
        """Take back this process's row at an orderly end; if that fails, others soon find it dead."""
        try:
            with self.engine.begin() as connection:
                processes.leave(connection, self.generation)
        except SQLAlchemyError as error:
            _log.warning(f"The process's row could not be removed: {describe(error)}", extra={"action": "leave_failed"})

    def await_first_beat(self, stop: Stop) -> None:
        """Return when the first beat got through, or when the process is to stop."""
        while self._beat_at is None and not stop.wait(0.01):
            pass

"""What a runner has in hand: a run for each thread, and some more while runs are short.

Claiming for many costs little more than claiming for one. So while runs end fast, a runner claims ahead: what it
holds is begun within 0.1 to 0.2 seconds. When runs turn out to be long, it gives back what no thread has begun, so
that a busy runner holds nothing that an idle one could do (docs/decisions/0013).
"""

import threading

AHEAD = 40
AHEAD_SECONDS = 0.1  # at the present pace, what is held ahead is begun within this
LOOK_SECONDS = 0.25
GATHER_SECONDS = 0.01  # how long a full hand, once there is room, waits for more room
_SHARE = 4  # of a full hand this part makes enough room


class Pace:
    """Whether runs end so fast that claiming ahead delays none of them."""

    def __init__(self, now: float) -> None:
        self.is_fast = False
        self._ended = 0
        self._looked_at = now

    def look(self, ended: int, now: float) -> bool:
        """Return it, judged anew every `LOOK_SECONDS`; `ended`: all runs that have ended, `now`: monotonic seconds."""
        if now - self._looked_at >= LOOK_SECONDS:
            per_second = (ended - self._ended) / (now - self._looked_at)
            enough = AHEAD / AHEAD_SECONDS
            self.is_fast = per_second >= (enough / 2 if self.is_fast else enough)
            self._ended, self._looked_at = ended, now
        return self.is_fast


class Hand:
    """Counts; safe to share between threads."""

    def __init__(self, threads: int) -> None:
        self.ended = 0  # runs, since the start
        self._threads = threads
        self._limit = threads
        self._held = 0
        self._wanted = 0  # room that somebody waits for
        self._changed = threading.Condition()

    def await_room(self, seconds: float) -> int:
        """Return for how many more there is room, waiting for some if there is none."""
        with self._changed:
            if self._room() <= 0 and self._wait_for(1, seconds):
                # All were taken, so others end soon: claiming for several costs little more than for one.
                self._wait_for(max(1, self._limit // _SHARE), GATHER_SECONDS)
            return max(0, self._room())

    def take(self, count: int) -> None:
        """Hold so many more."""
        with self._changed:
            self._held += count

    def release(self) -> None:
        """Hold one less: it has ended."""
        with self._changed:
            self._held -= 1
            self.ended += 1
            if 0 < self._wanted <= self._room():
                self._changed.notify()

    def claim_ahead(self, count: int) -> None:
        """Make room for so many more than there are threads."""
        with self._changed:
            self._limit = self._threads + count

    def surplus(self) -> int:
        """Return how many are held that have no thread."""
        return self._held - self._threads

    def _room(self) -> int:
        return self._limit - self._held

    def _wait_for(self, count: int, seconds: float) -> bool:
        self._wanted = count
        try:
            return self._changed.wait_for(lambda: self._room() >= count, seconds)
        finally:
            self._wanted = 0

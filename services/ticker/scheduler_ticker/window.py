"""How many messages may wait in a queue: what the runners will take within half a second, judged by what they took.

A run that becomes due now waits behind the messages that are in the queue already. So there are never more than the
runners need to be kept busy, and the rest of a backlog waits in the database, where spaces take turns.
"""

SECONDS = 0.5
LEAST = 100
LOOK_SECONDS = 0.1
_SHARE = 4  # room is worth using when it is this part of the window


class Window:
    """Of one queue; `most` is its size until something is known about the runners."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = most
        self._published = 0  # since the last look
        self._depth = 0
        self._looked_at: float | None = None

    def room(self, depth: int, now: float) -> int:
        """Return how many may be published: 0, or enough to be worth a transaction.

        `depth`: messages that wait in the queue; `now`: monotonic seconds.
        """
        if self._looked_at is None:
            self._remember(depth, now)
        elif now - self._looked_at >= LOOK_SECONDS:
            self._size = self._judged(depth, now - self._looked_at)
            self._remember(depth, now)
        room = self._size - depth
        return room if room >= self._size / _SHARE else 0

    def note(self, published: int) -> None:
        """Count what was published."""
        self._published += published

    def _judged(self, depth: int, seconds: float) -> int:
        taken = self._depth + self._published - depth
        if depth == 0:  # the runners may have waited for more
            return min(self._most, self._size * 2)
        if taken <= 0:  # there are none, or another ticker publishes too
            return self._size
        return min(self._most, max(LEAST, round(taken / seconds * SECONDS)))

    def _remember(self, depth: int, now: float) -> None:
        self._published, self._depth, self._looked_at = 0, depth, now

"""Connections that wait for the next request to the same origin, for a moment.

A server may close a connection just as we send on it, and then nobody can say whether the request was processed.
So a connection is only kept for so short a time that no usual server has closed it yet, and it is looked at first.
"""

import threading
import time
from collections import OrderedDict, defaultdict

from urllib3.util import wait_for_read

from scheduler_call_runner.connecting import discard
from scheduler_call_runner.deadlines import BoundedSocket
from scheduler_call_runner.targets import Origin

IDLE_SECONDS = 1.0  # servers that close early do so after 2 s
AGE_SECONDS = 60.0  # after this a new connection is made, so that a name's new address is noticed


class IdleConnections:
    """Safe to share between threads; `limit` bounds the open sockets."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._by_origin: defaultdict[Origin, OrderedDict[BoundedSocket, None]] = defaultdict(OrderedDict)
        self._all: OrderedDict[BoundedSocket, tuple[Origin, float]] = OrderedDict()  # the longest idle first

    def take(self, origin: Origin) -> BoundedSocket | None:
        """Return a connection that is still open, the last one used first."""
        while True:
            with self._lock:
                waiting = self._by_origin.get(origin)
                if not waiting:
                    return None
                connection, _ = waiting.popitem()
                _, since = self._all.pop(connection)
                if not waiting:
                    del self._by_origin[origin]
            # Whatever can be read now is no answer to what we have not sent yet, but the end of the connection.
            if time.monotonic() - since <= IDLE_SECONDS and not wait_for_read(connection, 0):
                return connection
            discard(connection)

    def put(self, origin: Origin, connection: BoundedSocket) -> None:
        """Keep a connection on which everything was read."""
        now = time.monotonic()
        if now - connection.opened_at > AGE_SECONDS:
            discard(connection)
            return
        with self._lock:
            self._by_origin[origin][connection] = None
            self._all[connection] = (origin, now)
            surplus = self._remove_longest_idle() if len(self._all) > self._limit else None
        if surplus is not None:
            discard(surplus)

    def sweep(self) -> float:
        """Close what has been idle for too long; return the seconds until the next look."""
        while (connection := self._take_outdated()) is not None:
            discard(connection)
        return IDLE_SECONDS

    def close(self) -> None:
        """Close all of them."""
        while (connection := self._take_outdated(idle_seconds=0)) is not None:
            discard(connection)

    def _take_outdated(self, idle_seconds: float = IDLE_SECONDS) -> BoundedSocket | None:
        with self._lock:
            if not self._all:
                return None
            _, since = next(iter(self._all.values()))
            return self._remove_longest_idle() if time.monotonic() - since >= idle_seconds else None

    def _remove_longest_idle(self) -> BoundedSocket:
        connection, (origin, _) = self._all.popitem(last=False)
        waiting = self._by_origin[origin]
        del waiting[connection]
        if not waiting:
            del self._by_origin[origin]
        return connection

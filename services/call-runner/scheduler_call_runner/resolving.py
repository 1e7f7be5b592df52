"""Look up names without ever hanging: the system's resolver cannot be interrupted, so others wait for it.

Each name is looked up by one thread at a time, however many calls ask; who asks waits no longer than its own limit.
"""

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from scheduler.domain.states import Reason
from scheduler_call_runner.failures import CallFailedError

KEPT_SECONDS = 5.0  # what the resolver itself would tell, it does not tell us
MAX_LOOKUPS = 64  # threads that may be caught in the resolver; names beyond are refused rather than queued

# The family of an address and what socket.connect takes for it, the address itself first.
Address = tuple[socket.AddressFamily, tuple[Any, ...]]
_Lookup = Future[list[Address]]


def look_up(host: str, port: int, *, flags: int = 0) -> list[Address]:
    """Return the addresses of a name, as the system gives and orders them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=flags)
    return list(dict.fromkeys((family, address) for family, _, _, _, address in found))


def _literal(host: str, port: int) -> list[Address]:
    """Return the address that `host` already is, in whatever notation, and nothing for a name."""
    try:
        return look_up(host, port, flags=socket.AI_NUMERICHOST)
    except (socket.gaierror, UnicodeError):
        return []


@dataclass
class Resolver:
    """Safe to share between threads."""

    look_up: Callable[[str, int], list[Address]] = look_up
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: dict[tuple[str, int], _Lookup] = field(default_factory=dict)
    _known: dict[tuple[str, int], tuple[float, list[Address]]] = field(default_factory=dict)

    def addresses(self, host: str, port: int, *, timeout: float) -> list[Address]:
        """Return the addresses of `host`.

        Raises CallFailedError for a name that does not resolve, TimeoutError when the resolver takes too long.
        """
        literal = _literal(host, port)
        if literal:
            return literal
        key = (host, port)
        with self._lock:
            known = self._known.get(key)
            if known and time.monotonic() < known[0]:
                return known[1]
            lookup = self._running.get(key) or self._start(key)
        return lookup.result(timeout)

    def _start(self, key: tuple[str, int]) -> _Lookup:
        if len(self._running) >= MAX_LOOKUPS:
            raise CallFailedError(Reason.CONNECT_ERROR, "too many name look-ups are waiting for an answer")
        lookup: _Lookup = Future()
        self._running[key] = lookup
        threading.Thread(target=self._run, args=(key, lookup), name="look-up", daemon=True).start()
        return lookup

    def _run(self, key: tuple[str, int], lookup: _Lookup) -> None:
        try:
            found = self.look_up(*key)
        except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
            detail = error.strerror if isinstance(error, OSError) else "it is no valid name"
            failure = CallFailedError(Reason.CONNECT_ERROR, f"the name {key[0]} does not resolve: {detail}")
            self._forget(key)
            lookup.set_exception(failure)
        else:
            self._forget(key, found)
            lookup.set_result(found)

    def _forget(self, key: tuple[str, int], found: list[Address] | None = None) -> None:
        """End the look-up, keeping what it found for a moment."""
        with self._lock:
            del self._running[key]
            if found is not None:
                self._remember(key, found)

    def _remember(self, key: tuple[str, int], found: list[Address]) -> None:
        now = time.monotonic()
        if len(self._known) > 10_000:
            self._known = {name: kept for name, kept in self._known.items() if now < kept[0]}
        self._known[key] = (now + KEPT_SECONDS, found)

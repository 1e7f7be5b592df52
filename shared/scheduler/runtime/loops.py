"""Threads that end their process when they end unexpectedly, and the boring loop that most of them run."""

import logging
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from scheduler.runtime.logs import fatal

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Stop:
    """Set once, when the process is asked to end; `wait` is how every loop pauses."""

    _event: threading.Event = field(default_factory=threading.Event)

    def set(self) -> None:
        """Ask every loop to end."""
        self._event.set()

    def is_set(self) -> bool:
        """Tell whether the process is asked to end."""
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Pause; return true as soon as the process is asked to end."""
        return self._event.wait(seconds)


@dataclass(slots=True)
class Bell:
    """Cuts a loop's pause short."""

    _event: threading.Event = field(default_factory=threading.Event)

    def ring(self) -> None:
        """End the present pause, or the next one."""
        self._event.set()

    def wait(self, seconds: float) -> None:
        """Pause until rung or until the time is up."""
        self._event.wait(seconds)
        self._event.clear()


def stop_on_signals(stop: Stop) -> None:
    """Let SIGTERM and SIGINT set `stop`, however often they come; for the main thread."""
    # Not in the handlers: one that interrupts the main thread inside an Event would wait for that Event's lock for
    # ever. Python also writes each signal's number to a pipe, which a thread of its own reads.
    arrivals, announcements = os.pipe()
    os.set_blocking(announcements, False)
    signal.set_wakeup_fd(announcements, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)

    def wait_for_signals() -> None:
        while os.read(arrivals, 1):
            stop.set()

    start_thread("signals", wait_for_signals)


def start_thread(name: str, target: Callable[[], None]) -> threading.Thread:
    """Run `target` in a thread; an error in it ends the process, so that nothing goes on half-alive."""

    def run() -> None:
        try:
            target()
        except BaseException as error:  # noqa: BLE001 - whatever it is, the process must not live on without this thread
            _log.error("A thread failed.", exc_info=error, extra={"action": "thread_failed", "thread": name})
            fatal(_log, f"The thread {name} ended unexpectedly; the process ends with it.", exit_code=70)

    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def repeat(
    step: Callable[[], float],
    *,
    stop: Stop,
    name: str,
    retry_seconds: float = 1.0,
    pause: Callable[[float], object] | None = None,
) -> None:
    """Call `step` until `stop`; it returns how many seconds to pause before the next call.

    A step that raises is logged and tried again after `retry_seconds`: databases and queues come back. `pause` may
    be something that a bell can cut short.
    """
    while not stop.is_set():
        seconds = _attempt(step, name)
        if seconds is None:
            seconds = retry_seconds
        if seconds > 0:
            (pause or stop.wait)(seconds)


def until_done(work: Callable[[], None], *, stop: Stop, name: str, retry_seconds: float = 1.0) -> None:
    """Do `work` once; when it raises, log that and try again, as `repeat` does."""

    def step() -> bool:
        work()
        return True

    while not stop.is_set() and not _attempt(step, name):
        stop.wait(retry_seconds)


def _attempt(step: Callable[[], T], name: str) -> T | None:
    """Return what `step` returns, None when it raised: databases and queues come back."""
    try:
        return step()
    except Exception as error:  # noqa: BLE001 - see above
        _log.warning(
            f"{name} could not do its work and tries again: {describe(error)}",
            extra={"action": f"{name}_failed"},
            exc_info=error if _log.isEnabledFor(logging.DEBUG) else None,
        )
        return None


def describe(error: BaseException) -> str:
    """Return the kind of an error and its first line; SQL and its parameters stand in later ones."""
    origin = getattr(error, "orig", None) or error
    lines = str(origin).strip().splitlines()
    return f"{type(origin).__name__}: {lines[0]}" if lines else type(origin).__name__

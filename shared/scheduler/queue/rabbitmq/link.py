"""A thread that keeps one connection to RabbitMQ, and connects again for as long as it lives."""

import logging
import random
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from pika import SelectConnection, URLParameters
from pika.channel import Channel

_log = logging.getLogger(__name__)

# Waits between tries double from the first to the last, so that RabbitMQ is used again a second after its return.
FIRST_WAIT_SECONDS = 0.1
LAST_WAIT_SECONDS = 1.0
CLOSE_SECONDS = 5.0
SETTLE_SECONDS = 15.0  # from being connected to being of use
_spread = random.SystemRandom()  # many services must not come back in step
_DEFAULTS = {
    "heartbeat": 15,  # seconds; a peer that vanished is noticed after two of them at most
    "socket_timeout": 5,  # seconds for the TCP connection
    "stack_timeout": 10,  # seconds for TCP, TLS and AMQP together
}
_TCP_KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}


class Link:
    """One connection with one channel at a time; `on_channel` and `on_lost` are called in the link's thread."""

    def __init__(
        self, url: str, *, name: str, on_channel: Callable[[Channel], None], on_lost: Callable[[], None]
    ) -> None:
        self._parameters = connection_parameters(url, name)
        self._name = name
        self._on_channel = on_channel
        self._on_lost = on_lost
        self._lock = threading.Lock()  # guards `_connection`: nobody may call into one whose loop has ended
        self._connection: Any = None
        self._closing = threading.Event()
        self._wait_seconds = FIRST_WAIT_SECONDS
        self._reason: object = None  # why there is no connection, once that has been logged
        self._is_settled = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Connect, and stay connected, in a thread of its own."""
        self._thread.start()

    def call(self, function: Callable[[], None]) -> bool:
        """Run `function` in the link's thread and return true, or false when there is no connection.

        The connection may still end before the function is run; `on_lost` is called after that.
        """
        with self._lock:
            if self._connection is None:
                return False
            self._connection.ioloop.add_callback_threadsafe(function)
            return True

    def later(self, seconds: float, function: Callable[[], None]) -> None:
        """Run `function` in a moment, if the connection lasts so long. In the link's thread only."""
        connection = self._connection
        if connection is not None:
            connection.ioloop.call_later(seconds, function)

    def settled(self) -> None:
        """Say that the connection has proved its worth, so that the next loss is met with a short wait."""
        if self._reason is not None:
            _log.info("RabbitMQ answers again.", extra={"action": "queue_recovered", "link": self._name})
        self._wait_seconds = FIRST_WAIT_SECONDS
        self._reason = None
        self._is_settled = True

    def renew(self, reason: object) -> None:
        """Drop the connection and start again. In the link's thread only."""
        self._note(reason)
        connection = self._connection
        if connection is not None and not (connection.is_closing or connection.is_closed):
            connection.close()

    def close(self) -> None:
        """Send what is written, close the connection and end the thread."""
        self._closing.set()
        self.call(lambda: self.renew("closed"))
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        while not self._closing.is_set():
            try:
                self._converse()
            except Exception as error:  # noqa: BLE001 the link must outlive any surprise in pika or above it
                _log.exception(
                    "The conversation with RabbitMQ failed.", extra={"action": "queue_failed", "link": self._name}
                )
                self._note(error)
            self._closing.wait(self._wait_seconds * _spread.uniform(0.8, 1.2))
            self._wait_seconds = min(self._wait_seconds * 2, LAST_WAIT_SECONDS)

    def _converse(self) -> None:
        """Live through one connection, from its opening to its end."""
        self._is_settled = False
        connection = SelectConnection(
            self._parameters,
            on_open_callback=self._opened,
            on_open_error_callback=self._ended,
            on_close_callback=self._ended,
        )
        with self._lock:
            self._connection = connection
        try:
            connection.ioloop.start()
        finally:
            with self._lock:
                self._connection = None
            self._on_lost()
            connection.ioloop.close()

    def _opened(self, connection: Any) -> None:
        if self._closing.is_set():
            connection.close()
            return
        connection.ioloop.call_later(SETTLE_SECONDS, self._expect_settled)
        connection.channel(on_open_callback=self._channel_opened)

    def _expect_settled(self) -> None:
        if not self._is_settled:
            self.renew("opening a channel and declaring the queues takes too long")

    def _channel_opened(self, channel: Channel) -> None:
        channel.add_on_close_callback(lambda _channel, reason: self.renew(reason))
        self._on_channel(channel)

    def _ended(self, connection: Any, reason: object) -> None:
        self._note(reason)
        connection.ioloop.stop()

    def _note(self, reason: object) -> None:
        """Log why there is no connection: once, not for each try."""
        if self._reason is None and not self._closing.is_set():
            _log.warning(
                f"RabbitMQ is not available, trying again: {reason!r}",
                extra={"action": "queue_unavailable", "link": self._name},
            )
        self._reason = reason


def connection_parameters(url: str, name: str) -> URLParameters:
    """Return pika's parameters for an `amqp://` or `amqps://` URL; what its query says goes before our defaults.

    Raises ValueError for a URL that is none.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"amqp", "amqps"}:  # pika would take anything for a host name
        raise ValueError(f"the scheme of a queue's URL must be amqp or amqps, not {parts.scheme!r}")
    parameters = URLParameters(url)
    said = parse_qs(parts.query)
    for option, value in _DEFAULTS.items():
        if option not in said:
            setattr(parameters, option, value)
    if "tcp_options" not in said:
        parameters.tcp_options = _TCP_KEEPALIVE
    parameters.client_properties = {"connection_name": name}
    return parameters

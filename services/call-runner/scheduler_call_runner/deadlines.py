"""Sockets that know when the whole call must be over.

An endpoint that sends a byte now and then would renew an ordinary socket's time limit for ever. These set what is
left of the call's time before each read, so nobody has to interrupt the thread that waits, and it always comes back.
"""

import socket
import ssl
import time
from typing import Any

# Head and body of an answer, framing included; one that is larger is not read to its end.
MAX_ANSWER_BYTES = 192 * 1_024


class TooLargeError(OSError):
    """The answer is larger than anybody wants to read."""


def seconds_left(deadline: float) -> float:
    """Return how long it is until `deadline` on the monotonic clock.

    Raises TimeoutError when it has passed.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


class BoundedSocket(socket.socket):
    """For one exchange after another; each begins with `begin`."""

    opened_at = 0.0
    _deadline = float("inf")
    _unread_bytes = MAX_ANSWER_BYTES

    def begin(self, deadline: float) -> None:
        """Set the limits of the exchange that begins now.

        Raises TimeoutError when it is over already.
        """
        self._deadline = deadline
        self._unread_bytes = MAX_ANSWER_BYTES
        self.settimeout(seconds_left(deadline))  # a plain `sendall` takes it as the limit of the whole

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """Read what has come, within the limits."""
        if self._unread_bytes <= 0:
            raise TooLargeError
        self.settimeout(seconds_left(self._deadline))
        count = super().recv_into(buffer, nbytes, flags)
        self._unread_bytes -= count
        return count


class BoundedTlsSocket(BoundedSocket, ssl.SSLSocket):  # type: ignore[misc] # one of them has it positional
    """The same over TLS, where sending goes in pieces too."""

    def send(self, data: Any, flags: int = 0) -> int:
        """Send a piece, within the limits."""
        self.settimeout(seconds_left(self._deadline))
        return super().send(data, flags)

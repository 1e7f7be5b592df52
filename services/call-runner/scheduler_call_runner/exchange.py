"""One request and its answer, read as far as it matters: the status, two headers, the end of a small body."""

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse, IncompleteRead

from scheduler.domain.states import Reason
from scheduler_call_runner.connecting import Dialer, discard
from scheduler_call_runner.deadlines import BoundedSocket, TooLargeError
from scheduler_call_runner.failures import CallFailedError, NotSentError
from scheduler_call_runner.idle import IdleConnections
from scheduler_call_runner.targets import Origin

MAX_BODY_BYTES = 64 * 1_024  # read so that the connection can be used again, and dropped


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request, ready to be written to a connection."""

    method: str
    origin: Origin
    wire: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What of an answer decides how to go on."""

    status: int
    location: str | None = None
    retry_after: str | None = None


@dataclass(frozen=True)
class Exchange:
    """Sends requests; safe to share between threads."""

    dialer: Dialer
    idle: IdleConnections

    def send(
        self, request: Prepared, *, connect_deadline: float, deadline: float, may_start: Callable[[], bool]
    ) -> Answer:
        """Send once and return the answer; `may_start` is asked right before anything goes out.

        Deadlines are on the monotonic clock. Raises NotSentError, CallFailedError, TimeoutError.
        """
        connection = self.idle.take(request.origin) or self.dialer.connect(
            request.origin, min(connect_deadline, deadline)
        )
        reusable = False
        try:
            connection.begin(deadline)
            if not may_start():
                raise NotSentError
            answer, reusable = _converse(connection, request)
        except (ssl.SSLError, OSError, HTTPException) as error:
            raise _failure(request.origin, error) from None
        finally:
            if reusable:
                self.idle.put(request.origin, connection)
            else:
                discard(connection)
        return answer


def _converse(connection: BoundedSocket, request: Prepared) -> tuple[Answer, bool]:
    """Return the answer and whether the connection can be used again."""
    is_sent = _is_sent(connection, request.wire)
    with HTTPResponse(connection, method=request.method) as response:
        response.begin()
        answer = Answer(response.status, response.getheader("Location"), response.getheader("Retry-After"))
        try:
            body = response.read(MAX_BODY_BYTES)
        except TooLargeError:
            return answer, False
        if response.length and len(body) < MAX_BODY_BYTES:
            raise IncompleteRead(body, response.length)
        return answer, is_sent and response.isclosed() and not response.will_close


def _is_sent(connection: BoundedSocket, wire: bytes) -> bool:
    """Send everything, unless the endpoint hangs up: then it may have answered before it had read it all."""
    try:
        connection.sendall(wire)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def _failure(origin: Origin, error: Exception) -> Exception:
    if isinstance(error, TimeoutError):
        return TimeoutError("timed out")
    if isinstance(error, TooLargeError):
        return CallFailedError(Reason.CONNECT_ERROR, f"the head of the answer of {origin} is too large")
    if isinstance(error, HTTPException) and not isinstance(error, OSError):
        return CallFailedError(Reason.CONNECT_ERROR, f"the answer of {origin} is no complete HTTP answer")
    return CallFailedError(
        Reason.CONNECT_ERROR, f"{origin} closed the connection without an answer; it may have processed the request"
    )

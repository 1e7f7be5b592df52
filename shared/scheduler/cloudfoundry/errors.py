"""What can come back instead of a value."""

from scheduler.domain.errors import PermanentError, RetryableError


class NotFoundError(PermanentError):
    """Cloud Controller itself says that the resource does not exist: 404, JSON, code 10010."""


class RefusedError(PermanentError):
    """Cloud Controller said no; `detail` are its own words, and nothing was changed."""

    def __init__(self, detail: str, *, code: int | None, status: int) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.status = status


class CannotTellError(RetryableError):
    """No trustworthy answer: `status` is None when there was none at all."""

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after  # seconds


class UnsentError(CannotTellError):
    """No connection was made, so the request certainly had no effect."""


class LostError(CannotTellError):
    """The request went out and no answer came back; it may have had its effect."""


class TokenUnavailableError(CannotTellError):
    """UAA gave us no token of our own."""


class WaitError(RetryableError):
    """The task was certainly not started, and may be asked for again, `retry_after` seconds from now if set."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DoubtError(RetryableError):
    """The task may have been created; look for its label before asking again."""


class UnverifiedTokenError(PermanentError):
    """The caller's token is not accepted; `reason` is for the log, never for the caller."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason

"""How an attempt can fail without a final answer; the words are shown to users and never hold anything secret."""

from scheduler.domain.errors import SchedulerError
from scheduler.domain.states import Reason


class CallFailedError(SchedulerError):
    """The attempt failed. The message names a host at most: paths, queries and headers may be secrets."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class NotSentError(SchedulerError):
    """This runner may no longer start anything; nothing was sent."""

"""What the broker refuses, and why. Cloud Controller shows the message to the user: `Service broker error: …`."""

from scheduler.domain.errors import PermanentError, RetryableError, SchedulerError


class BrokerError(SchedulerError):
    """A request that has changed nothing; the message is for the user."""


class OldVersionError(BrokerError, PermanentError):
    """The platform speaks an older version of the Open Service Broker API, or does not say which."""


class UnauthorizedError(BrokerError, PermanentError):
    """The credentials are not those that the broker is registered with."""


class MalformedRequestError(BrokerError, PermanentError):
    """A field is missing or cannot be what it says."""


class WrongSpaceError(BrokerError, PermanentError):
    """The app does not live in the space of the service instance."""


class UnknownInstanceError(BrokerError, PermanentError):
    """The request needs a service instance that is not there."""


class GoneError(BrokerError, PermanentError):
    """There is nothing to delete; said with any other status, Cloud Controller would keep its own record for ever."""


class ConflictError(BrokerError, PermanentError):
    """The id is taken by something else, or the space has its one instance already."""


class PlanChangeError(BrokerError, PermanentError):
    """There is only one plan."""


class ConcurrencyError(BrokerError, RetryableError):
    """Another operation on the same things was under way; this one has changed nothing."""


class CannotAskError(BrokerError, RetryableError):
    """Cloud Controller gave no answer that the operation could rest on."""

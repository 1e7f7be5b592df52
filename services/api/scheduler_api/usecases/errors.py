"""Why a request is refused; `scheduler_api.errors` turns these into answers."""

from scheduler.domain.errors import PermanentError


class ForbiddenError(PermanentError):
    """The caller may not do this (403)."""

    def __init__(self, message: str, *, code: str = "forbidden") -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class AbsentError(PermanentError):
    """There is no such thing, or none that the caller may know of (404)."""

    def __init__(self, noun: str, *, code: str = "not_found") -> None:
        super().__init__(f"there is no such {noun}")
        self.message = f"there is no such {noun}"
        self.code = code

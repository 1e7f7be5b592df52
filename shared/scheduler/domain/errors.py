"""One error root; the class says whether trying again can help."""

from dataclasses import dataclass


class SchedulerError(Exception):
    """Anything that the scheduler reports about itself."""


class RetryableError(SchedulerError):
    """The same attempt may succeed later."""


class PermanentError(SchedulerError):
    """Trying again changes nothing."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One error or warning about a user's input (api contract: `errors` and `warnings`)."""

    code: str
    message: str
    field: str | None = None
    value: str | None = None
    valid_range: str | None = None
    offset: int | None = None  # bytes from the start of the expression


class InvalidInputError(PermanentError):
    """The user's input breaks a rule; carries one finding per mistake."""

    def __init__(self, *findings: Finding, warnings: tuple[Finding, ...] = ()) -> None:
        super().__init__("; ".join(finding.message for finding in findings))
        self.findings = findings
        self.warnings = warnings

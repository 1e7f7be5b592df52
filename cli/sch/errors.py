"""What ends a command early; the exit code says whose turn it is."""

from scheduler.domain.errors import SchedulerError

FAILURE = 1
USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells have it


class CliError(SchedulerError):
    """The command cannot do what it was asked; the message is for the user."""

    exit_code = FAILURE
    body: str | None = None  # JSON of the scheduler's, which --json prints

    def lines(self) -> list[str]:
        """Return what is said about it."""
        return [str(self)]


class UsageError(CliError):
    """The command line itself, or the environment, is wrong."""

    exit_code = USAGE


class UnsuccessfulError(CliError):
    """Everything has been said on the screen; only the exit code is left to set."""

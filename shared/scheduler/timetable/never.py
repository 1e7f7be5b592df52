"""The timetable of @triggered, @manual and @none: it parses, and nothing is ever due."""

from datetime import datetime

from scheduler.timetable.contract import Timetable


class Never(Timetable):
    """No due instant at all."""

    location = "UTC"

    def next_after(self, instant: datetime) -> datetime | None:  # noqa: ARG002 - the contract's signature
        """Return None."""
        return None

    def previous_before(self, instant: datetime) -> datetime | None:  # noqa: ARG002 - the contract's signature
        """Return None."""
        return None

    def count(self, after: datetime, until: datetime) -> int:  # noqa: ARG002 - the contract's signature
        """Return 0."""
        return 0

"""Reading who did what."""

from scheduler.store.audit_events import AuditFilter, audit_events_where, count_audit_events
from scheduler.store.database import Database
from scheduler_api.pagination import Part, Wanted, by_guid


class AuditTrail:
    """Pages of audit events, newest first."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def where(self, which: AuditFilter, wanted: Wanted) -> Part:
        """Return a part of the audit events.

        Raises InvalidInputError for a part that could only be found by walking there.
        """
        keyset = wanted.keyset()
        with self._database.read() as connection:
            rows = audit_events_where(connection, which, keyset)
            return by_guid(rows, wanted, lambda limit: count_audit_events(connection, which, at_most=limit))

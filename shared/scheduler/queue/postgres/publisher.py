"""Publish by doing nothing: the relay stamps the rows and rings, and that is the message."""

from collections.abc import Sequence
from uuid import UUID

import psycopg2
from psycopg2.extensions import connection as Connection  # noqa: N812 psycopg2 spells its classes so

from scheduler.domain.states import RefType
from scheduler.messages import Bell
from scheduler.queue.postgres.connection import connect

# Counting stops here: the relay only wants to know whether there are more than its window.
MAX_DEPTH = 5_000
_COUNT = """
    SELECT count(*) FROM (
        SELECT FROM executions WHERE ref_type = %s AND state = 'PENDING' AND queued_at IS NOT NULL LIMIT %s
    ) AS ready
"""


class PostgresPublisher:
    """The relay's way to the queue (`scheduler.ports.Publisher`)."""

    def __init__(self, database_url: str, *, name: str = "ocf-scheduler publisher") -> None:
        self._database_url = database_url
        self._name = name
        self._connection: Connection | None = None
        self._answers = True  # until proved otherwise; the relay asks for the depth all the time

    def publish(self, bells: Sequence[Bell], *, timeout: float) -> set[UUID]:  # noqa: ARG002 nothing to wait for
        """Confirm all of them: they become messages by the stamp that follows."""
        return {bell.execution for bell in bells}

    def depth(self, kind: RefType) -> int | None:
        """Return how many stamped rows wait, counting no further than MAX_DEPTH."""
        try:
            if self._connection is None:
                self._connection = connect(self._database_url, self._name)
            with self._connection.cursor() as cursor:
                cursor.execute(_COUNT, (str(kind), MAX_DEPTH))
                (ready,) = cursor.fetchone() or (0,)
        except psycopg2.Error:
            self.close()
            self._answers = False
            return None
        self._answers = True
        return int(ready)

    def connected(self) -> bool:
        """Tell whether the last question was answered."""
        return self._answers

    def close(self) -> None:
        """Let the connection go."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

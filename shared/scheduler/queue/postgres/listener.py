"""One connection that listens for rings, can be asked questions, and is opened again when it is lost."""

import contextlib
import select
import socket
from typing import Any

import psycopg2
from psycopg2.extensions import connection as Connection  # noqa: N812 psycopg2 spells its classes so

from scheduler.domain.states import RefType
from scheduler.queue.postgres.connection import connect, ring_channel


class Listener:
    """Used by one thread at a time, but for `wake`."""

    def __init__(self, database_url: str, kind: RefType) -> None:
        self._database_url = database_url
        self._channel = ring_channel(kind)
        self._connection: Connection | None = None
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._woken.setblocking(False)

    def query(self, statement: str, parameters: tuple[object, ...]) -> list[Any]:
        """Return the rows. Raises psycopg2.Error, after which the next query connects anew."""
        try:
            if self._connection is None:
                self._connection = self._listen()
            # Rings up to here are answered by this very query; one that arrives during it is kept for `wait`.
            self._connection.notifies.clear()
            with self._connection.cursor() as cursor:
                cursor.execute(statement, parameters)
                return cursor.fetchall()
        except psycopg2.Error:
            self._disconnect()
            raise

    def wait(self, seconds: float) -> None:
        """Return when the relay has rung, when woken, or after this time."""
        if self._connection is not None and self._connection.notifies:
            self._connection.notifies.clear()
            return
        sources: list[Any] = [self._woken] if self._connection is None else [self._woken, self._connection]
        ready, _, _ = select.select(sources, [], [], seconds)
        if self._woken in ready:
            self._woken.recv(4096)
        if self._connection in ready:
            self._take_rings()

    def wake(self) -> None:
        """Let `wait` return. From any thread."""
        with contextlib.suppress(BlockingIOError, OSError):  # full: awake already; closed: nobody waits
            self._waker.send(b"!")

    def close(self) -> None:
        """Let the connection go."""
        self._disconnect()
        self._woken.close()
        self._waker.close()

    def _listen(self) -> Connection:
        connection = connect(self._database_url, "ocf-scheduler consumer")
        try:
            with connection.cursor() as cursor:
                cursor.execute(f'LISTEN "{self._channel}"')
        except psycopg2.Error:
            connection.close()
            raise
        return connection

    def _take_rings(self) -> None:
        assert self._connection is not None
        try:
            self._connection.poll()
        except psycopg2.Error:
            self._disconnect()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

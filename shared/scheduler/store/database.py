"""The database as requests use it: one transaction, or single statements without one; errors that say what to do."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection, Engine, exc, text

from scheduler.domain.errors import PermanentError, RetryableError

_NOW = text("SELECT clock_timestamp()")
_GAVE_WAY = frozenset({"55P03", "40P01"})  # lock_timeout passed, deadlock
_UNIQUE_NAMES = frozenset({"jobs_app_name", "calls_app_name"})


class UnavailableError(RetryableError):
    """The database does not answer, or not in time."""


class ContentionError(UnavailableError):
    """The transaction gave way to another one that held what it needs; nothing of it was kept."""


class NameTakenError(PermanentError):
    """The app has another job, or another call, of that name."""


class Database:
    """A pool of connections and the two ways to use one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Lend a connection on which each statement stands alone: no round trips to begin and end anything.

        Raises UnavailableError.
        """
        with _translated(), self._reading.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Lend a connection in a transaction, which is committed at the end and rolled back by an error.

        Raises UnavailableError and NameTakenError.
        """
        with _translated(), self._engine.begin() as connection:
            yield connection


def now_of(connection: Connection) -> datetime:
    """Return the present by the database's clock. Asked under a schedule's lock, no ticker has planned beyond it."""
    instant: datetime = connection.execute(_NOW).scalar_one()
    return instant


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except exc.IntegrityError as error:
        if _constraint(error) in _UNIQUE_NAMES:
            raise NameTakenError("this name is taken") from error
        raise
    except (exc.OperationalError, exc.InterfaceError, exc.TimeoutError) as error:
        if getattr(getattr(error, "orig", None), "pgcode", None) in _GAVE_WAY:
            raise ContentionError("another transaction is in the way") from error
        raise UnavailableError("the database does not answer") from error
    except exc.DBAPIError as error:
        if error.connection_invalidated:
            raise UnavailableError("the connection to the database was lost") from error
        raise


def _constraint(error: exc.IntegrityError) -> str | None:
    diagnosis = getattr(error.orig, "diag", None)
    return getattr(diagnosis, "constraint_name", None)

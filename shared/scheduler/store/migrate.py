"""Bring a database's schema up to date; every service does so before it serves anything (checklist 52)."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from scheduler.store.engine import open_engine

# Any number will do, as long as nobody else locks it: the letters OCF and the word for what it guards.
_LOCK = 0x4F43464D


def upgrade(database_url: str) -> None:
    """Apply what is pending, one service at a time; a schema newer than this code knows is left alone."""
    engine = open_engine(database_url, pool_size=1)
    try:
        with engine.begin() as connection:
            # Starting services may queue here for as long as a migration takes.
            connection.execute(text("SET LOCAL lock_timeout = 0"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
            if not _is_newer(connection):
                command.upgrade(_config(connection), "head")
    finally:
        engine.dispose()


def schema_is_current(connection: Connection) -> bool:
    """Tell whether every migration of this code is applied (readiness)."""
    revision = MigrationContext.configure(connection).get_current_revision()
    return revision is not None and (revision == _scripts().get_current_head() or not _is_known(revision))


def _is_newer(connection: Connection) -> bool:
    revision = MigrationContext.configure(connection).get_current_revision()
    return revision is not None and not _is_known(revision)


def _is_known(revision: str | None) -> bool:
    return revision in {script.revision for script in _scripts().walk_revisions()}


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())

"""The tables that SQLAlchemy knows are those that the migrations make."""

from collections.abc import Iterator

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, text

from scheduler.store.engine import open_engine
from scheduler.store.migrate import schema_is_current, upgrade
from scheduler.store.tables import metadata


@pytest.fixture
def empty_engine(empty_database_url: str) -> Iterator[Engine]:
    engine = open_engine(empty_database_url)
    yield engine
    engine.dispose()


def test_the_tables_of_the_code_are_those_of_the_migrations(engine: Engine) -> None:
    def is_compared(thing: object, _name: str, kind: str, _reflected: object, _other: object) -> bool:
        return kind != "index"  # partial and expression indexes stand in the migrations only

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "include_object": is_compared})
        assert compare_metadata(context, metadata) == []


def test_migrations_are_applied_once_and_again_without_effect(empty_database_url: str, empty_engine: Engine) -> None:
    """Checklist 52."""  # checklist 52
    upgrade(empty_database_url)
    upgrade(empty_database_url)
    with empty_engine.connect() as connection:
        assert schema_is_current(connection)


def test_a_service_starts_against_a_newer_schema(empty_database_url: str, empty_engine: Engine) -> None:
    upgrade(empty_database_url)
    with empty_engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    upgrade(empty_database_url)
    with empty_engine.connect() as connection:
        assert schema_is_current(connection)


def test_a_database_without_tables_is_not_current(empty_engine: Engine) -> None:
    with empty_engine.connect() as connection:
        assert not schema_is_current(connection)

"""Statements that are planned once per connection."""

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import NotSupportedError

from scheduler.store.engine import open_engine
from scheduler.store.prepared import Prepared, execute

_ADD = Prepared("add_numbers", {"first": "integer", "second": "bigint"}, "SELECT :first + :second AS sum")
_DOUBLE = Prepared("double_number", {"first": "integer"}, "SELECT 2 * :first AS double")


def test_parameters_go_where_their_names_are() -> None:
    statement = Prepared("p", {"a": "uuid[]", "b": "text"}, "SELECT :b::text, :a WHERE :b <> ''")
    assert statement.preparing() == "PREPARE p (uuid[], text) AS SELECT $2::text, $1 WHERE $2 <> ''"
    assert statement.executing() == "EXECUTE p (CAST(%(a)s AS uuid[]), CAST(%(b)s AS text))"


def test_a_statement_is_prepared_once_and_outlives_a_rollback(engine: Engine) -> None:
    with engine.connect() as connection:
        for number in range(3):
            assert execute(connection, [_ADD], {"first": number, "second": 1}).scalar_one() == number + 1
            connection.rollback()


def test_the_last_of_several_statements_gives_the_result(engine: Engine) -> None:
    with engine.connect() as connection:
        rows = execute(connection, [_DOUBLE, _ADD], {"first": 2, "second": 3}).all()
    assert [row.sum for row in rows] == [5]


def test_a_new_connection_prepares_anew(database_url: str) -> None:
    engine = open_engine(database_url, pool_size=1, for_prepared=True)
    for _ in range(2):
        with engine.connect() as connection:
            assert execute(connection, [_ADD], {"first": 1, "second": 1}).scalar_one() == 2
            connection.invalidate()
    engine.dispose()


def test_connections_for_prepared_statements_find_rows_by_an_index(database_url: str) -> None:
    engine = open_engine(database_url, for_prepared=True)
    with engine.connect() as connection:
        assert connection.execute(text("SHOW enable_seqscan")).scalar_one() == "off"
    engine.dispose()


def test_a_plan_that_no_longer_fits_the_table_is_made_anew_on_another_connection(database_url: str) -> None:
    read = Prepared("read_fact", {"wanted": "text"}, "SELECT value FROM facts WHERE name = :wanted")
    engine, other = open_engine(database_url, pool_size=1), open_engine(database_url)
    with engine.begin() as connection:
        execute(connection, [read], {"wanted": "one"})
    with other.begin() as connection:
        connection.execute(text("ALTER TABLE facts ALTER COLUMN value TYPE varchar(99)"))
    with pytest.raises(NotSupportedError), engine.begin() as connection:
        execute(connection, [read], {"wanted": "one"})
    with engine.begin() as connection:
        assert execute(connection, [read], {"wanted": "one"}).all() == []
    engine.dispose()
    other.dispose()

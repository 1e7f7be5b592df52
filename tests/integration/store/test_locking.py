"""Rows that are locked to be changed are all of the rows, also when somebody else changes them at the same moment."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import TextClause, text

from scheduler import store
from scheduler.domain.states import RefType
from scheduler.store.bindings import lock_schedules_of_app
from scheduler.store.calls import insert_call
from scheduler.store.engine import open_engine
from scheduler.store.schedules import insert_schedule
from scheduler.store.sealing import Seal
from scheduler.testing.factories import make_call, make_schedule
from tests.fixtures.session import wait_until

_MANY_CALLS = text("""
    INSERT INTO calls
    SELECT copy.* FROM (SELECT c AS row FROM calls c LIMIT 1) one, generate_series(1, 5000) number,
        jsonb_populate_record(one.row, jsonb_build_object(
            'guid', gen_random_uuid(), 'name', 'call ' || number, 'app_guid', 'app ' || number % 100)) copy
""")
_THEIR_SCHEDULES = text("""
    INSERT INTO schedules
    SELECT copy.* FROM (SELECT s AS row, ref_guid FROM schedules s LIMIT 1) one JOIN calls c ON c.guid <> one.ref_guid,
        jsonb_populate_record(one.row, jsonb_build_object('guid', gen_random_uuid(), 'ref_guid', c.guid)) copy
""")


def test_all_schedules_of_an_app_are_locked_while_a_ticker_changes_them(database_url: str) -> None:
    engine = open_engine(database_url, pool_size=3)
    call = make_call(app_guid="app 7")
    with engine.begin() as connection:
        insert_call(connection, call, Seal())
        insert_schedule(connection, make_schedule(ref_type=RefType.CALL, ref_guid=call.guid))
        connection.execute(_MANY_CALLS)  # so that PostgreSQL chooses the plan that it has for many
        connection.execute(_THEIR_SCHEDULES)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE")

    def lock() -> int:
        with engine.begin() as connection:
            return len(lock_schedules_of_app(connection, "app 7")[1])

    def waits() -> bool:
        with engine.begin() as connection:
            return bool(connection.exec_driver_sql("SELECT count(*) FROM pg_locks WHERE NOT granted").scalar_one())

    with ThreadPoolExecutor(1) as thread:
        with engine.begin() as ticker:
            ticker.exec_driver_sql("UPDATE schedules SET cursor_at = now()")
            locked = thread.submit(lock)
            wait_until(waits, within=10, what="unbinding waits for the ticker")
        assert locked.result(30) == lock() == 51
    engine.dispose()


def _locking_statements() -> Iterator[tuple[str, str]]:
    for module in pkgutil.walk_packages(store.__path__, "scheduler.store."):
        if ".migrations" in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            found = [value] if isinstance(value, TextClause) else []
            found = list(value.values()) if isinstance(value, dict) else found
            for statement in found:
                if isinstance(statement, TextClause) and "FOR UPDATE" in statement.text:
                    yield f"{module.name}.{name}", statement.text


def _query_that_locks(statement: str) -> str:
    """Return the query around FOR UPDATE, each query within it replaced by dots."""
    while True:
        shorter = re.sub(r"\((?![^()]*FOR UPDATE)(?=[^()]*SELECT)[^()]*\)", "[…]", statement)
        shorter = re.sub(r"\((?![^()]*(?:FOR UPDATE|SELECT))([^()]*)\)", r"[\1]", shorter)
        if shorter == statement:
            break
        statement = shorter
    enclosed = re.search(r"\(([^()]*FOR UPDATE[^()]*)\)", statement)
    return enclosed.group(1) if enclosed else statement


@pytest.mark.parametrize(("name", "statement"), sorted(set(_locking_statements())))
def test_a_query_that_locks_rows_finds_them_in_one_table_alone(name: str, statement: str) -> None:
    query = _query_that_locks(statement)
    tables = re.search(r"FROM (.*?)(WHERE|ORDER|FOR UPDATE)", query, re.DOTALL)
    assert tables, query
    assert not re.search(r",|JOIN", tables.group(1)), query
    assert not re.search(r"IN \[…\]|UNION", query), query

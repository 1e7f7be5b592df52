"""Statements that run many times a second with a few rows each: PostgreSQL plans them once per connection.

For these, planning costs as much as executing. The plan stays while the table grows, so connections that use such
statements are best opened with `for_prepared=True`. A statement must name its columns: `*` breaks when a later
version of the schema has one more.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import NotSupportedError

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement with `:name` parameters, and the PostgreSQL type of each."""

    name: str
    types: Mapping[str, str]
    sql: str

    def preparing(self) -> str:
        """Return the SQL that prepares it."""
        numbers = {name: number for number, name in enumerate(self.types, start=1)}
        numbered = _PARAMETER.sub(lambda match: f"${numbers[match[1]]}", self.sql)
        return f"PREPARE {self.name} ({', '.join(self.types.values())}) AS {numbered}"

    def executing(self) -> str:
        """Return the SQL that executes it, with the driver's placeholders."""
        values = ", ".join(f"CAST(%({name})s AS {kind})" for name, kind in self.types.items())
        return f"EXECUTE {self.name} ({values})"


def execute(
    connection: Connection, statements: Sequence[Prepared], parameters: Mapping[str, object]
) -> CursorResult[Any]:
    """Execute the statements in one round trip, each with a snapshot of its own, and return the last one's result."""
    for statement in statements:
        if statement.name not in connection.info:  # which lives as long as the connection to PostgreSQL
            connection.exec_driver_sql(statement.preparing())
            connection.info[statement.name] = True
    try:
        return connection.exec_driver_sql("; ".join(each.executing() for each in statements), dict(parameters))
    except NotSupportedError:  # a column's type was changed since: another connection plans anew
        connection.invalidate()
        raise

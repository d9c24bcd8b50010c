"""Tables with a column V of some type, and what is stored in it."""

from __future__ import annotations

from typing import Any

import firearrow


def ids(case: object) -> str | None:
    """The name of a case: its type."""
    return case.replace(" ", "_") if isinstance(case, str) else None


def make(connection: firearrow.Connection, table: str, sql_type: str) -> None:
    """Create a table with the columns ID and V."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL, v {sql_type})")
    connection.commit()


def read(other: firearrow.Connection, table: str) -> list[Any]:
    """Return the values as another connection sees them."""
    other.rollback()
    return read_own(other, table)


def read_own(connection: firearrow.Connection, table: str) -> list[Any]:
    """Return the values as the transaction that is open sees them."""
    return [row[0] for row in connection.execute(f"SELECT v FROM {table} ORDER BY id")]


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    """Compare values and their classes."""
    assert len(found) == len(wanted)
    for number, (left, right) in enumerate(zip(found, wanted, strict=True)):
        # Long values would make long reports.
        assert left == right, f"value {number}: {str(left)[:80]} is not {str(right)[:80]}"
        assert type(left) is type(right), f"value {number}"

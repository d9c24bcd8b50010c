"""Rows for ``executemany``: of several classes, of iterators, and rows that fail."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import firearrow


def test_executemany_names_the_row(connection: firearrow.Connection, table: str) -> None:
    """A row that cannot be sent is told by its number."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(5))")
    connection.commit()
    insert = f"INSERT INTO {table} VALUES (?, ?)"
    rows: list[Any] = [(1, "a"), (2, "b"), (3, object())]
    with pytest.raises(firearrow.DataError) as caught:
        connection.executemany(insert, rows)
    assert caught.value.row == 2
    rows = [(1, "a"), (2,), (3, "c")]
    with pytest.raises(firearrow.ProgrammingError, match="2 parameters, 1 were given") as many:
        connection.executemany(insert, rows)
    assert many.value.row == 1
    connection.rollback()
    for wrong in (5, None, "text", [5], [None]):
        with pytest.raises((firearrow.ProgrammingError, TypeError)):
            connection.executemany(insert, wrong)
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)


def test_executemany_of_mixed_classes(
    connection: firearrow.Connection, other: firearrow.Connection, table: str
) -> None:
    """Values of one column may be of different classes from row to row; the order stays."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, a DOUBLE PRECISION, s VARCHAR(30))")
    connection.commit()
    rows = [(1, 1, "a"), (2, 2.5, 5), (3, None, None), (4, Decimal("1.25"), b"b"), (5, "6", True)]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    connection.commit()
    found = other.execute(f"SELECT id, a, s FROM {table} ORDER BY id").fetchall()
    assert found == [(1, 1.0, "a"), (2, 2.5, "5"), (3, None, None), (4, 1.25, "b"), (5, 6.0, "TRUE")]


def test_executemany_of_an_iterator(connection: firearrow.Connection, table: str) -> None:
    """Rows are taken as they come: more of them than one message holds."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(20))")
    connection.commit()
    rows = ((number, f"row {number}") for number in range(25_001))
    cursor = connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    assert cursor.rowcount == 25_001
    found = connection.execute(f"SELECT id, name FROM {table} ORDER BY id").fetchall()
    assert found == [(number, f"row {number}") for number in range(25_001)]


def test_an_iterator_that_fails(connection: firearrow.Connection, table: str) -> None:
    """Its exception arrives, and the connection goes on."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.commit()

    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        connection.executemany(f"INSERT INTO {table} VALUES (?)", rows())
    connection.rollback()
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)


@pytest.mark.parametrize("rows", [10, 100])
def test_a_table_that_another_connection_has_altered(
    connection: firearrow.Connection, other: firearrow.Connection, table: str, rows: int
) -> None:
    """What was known of the statement is out of date; the server converts."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(10))")
    connection.commit()
    for length in (5, 10, 40):
        if length == 40:
            other.execute(f"ALTER TABLE {table} ALTER COLUMN name TYPE VARCHAR(200)")
            other.commit()
        connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(n, "x" * length) for n in range(rows)])
        connection.commit()
    found = connection.execute(f"SELECT CHAR_LENGTH(name), COUNT(*) FROM {table} GROUP BY 1").fetchall()
    connection.commit()
    assert found == [(5, rows), (10, rows), (40, rows)]

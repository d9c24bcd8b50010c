"""Arrays are lists."""

from __future__ import annotations

from datetime import date
from datetime import datetime as moment
from datetime import time as clock
from decimal import Decimal
from typing import Any

import pytest
from columns import ids, make, read, read_own

import firearrow

ARRAYS: list[tuple[str, list[Any], int]] = [
    ("SMALLINT[2]", [[-32768, 32767]], 3),
    ("INTEGER[3]", [[1, 2, 3], [-(2**31), 0, 2**31 - 1]], 3),
    ("BIGINT[0:1]", [[-(2**63), 2**63 - 1]], 3),
    ("INTEGER[2,3]", [[[1, 2, 3], [4, 5, 6]]], 3),
    ("DOUBLE PRECISION[2,2]", [[[1.5, -0.0], [1e300, 4.0]]], 3),
    ("FLOAT[2]", [[0.5, -0.25]], 3),
    ("NUMERIC(9,2)[2]", [[Decimal("1.25"), Decimal("-1.00")]], 3),
    ("VARCHAR(5)[2]", [["ab", "ä"], ["", "x" * 5]], 3),
    ("CHAR(3)[2]", [["abc", "x  "]], 3),
    ("DATE[2]", [[date(1, 1, 1), date(9999, 12, 31)]], 3),
    ("TIME[2]", [[clock(0), clock(23, 59, 59, 999900)]], 3),
    ("TIMESTAMP[-1:0]", [[moment(1, 1, 1), moment(9999, 12, 31, 23, 59, 59, 999900)]], 3),
    ("INTEGER[2,2,2]", [[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]], 3),
]


@pytest.mark.parametrize(("sql_type", "values", "since"), ARRAYS, ids=ids)
def test_arrays_are_lists(
    connection: firearrow.Connection,
    other: firearrow.Connection,
    table: str,
    sql_type: str,
    values: list[Any],
    since: int,
) -> None:
    """Arrays of every dimension are lists within lists; NULL is None."""
    make(connection, table, sql_type)
    wanted = [None, *values]
    for number, value in enumerate(wanted):
        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (number, value))
    connection.commit()
    assert read(other, table) == wanted
    connection.execute(f"DELETE FROM {table}")
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", list(enumerate(wanted)))
    connection.commit()
    assert read(other, table) == wanted


def test_arrays_take_tuples(connection: firearrow.Connection, table: str) -> None:
    make(connection, table, "INTEGER[2,2]")
    connection.execute(f"INSERT INTO {table} VALUES (1, ?)", (((1, 2), (3, 4)),))
    assert read_own(connection, table) == [[[1, 2], [3, 4]]]


@pytest.mark.parametrize(
    ("sql_type", "value", "found"),
    [
        ("DOUBLE PRECISION[3]", [1, 2.5, Decimal("0.1")], [1.0, 2.5, 0.1]),
        ("DOUBLE PRECISION[2]", [2**53, -0.5], [2.0**53, -0.5]),
        ("FLOAT[2]", [1, 0.25], [1.0, 0.25]),
        ("NUMERIC(9,2)[4]", [1, 2.5, Decimal("0.25"), True], [1, Decimal("2.5"), Decimal("0.25"), 1]),
        ("NUMERIC(18,4)[2]", [0.1, 10**13], [Decimal("0.1"), 10**13]),
        ("INTEGER[3]", [1, 2.0, Decimal(3)], [1, 2, 3]),
        ("DOUBLE PRECISION[2,2]", [[1, 2], [0.5, 1]], [[1.0, 2.0], [0.5, 1.0]]),
    ],
    ids=ids,
)
def test_numbers_of_several_classes(
    connection: firearrow.Connection, table: str, sql_type: str, value: list[Any], found: list[Any]
) -> None:
    """An array takes numbers that its type has, whatever their classes; rows may differ, too."""
    make(connection, table, sql_type)
    insert = f"INSERT INTO {table} VALUES (?, ?)"
    connection.execute(insert, (1, value))
    connection.executemany(insert, [(2, found), (3, value), (4, None), (5, value)])
    assert read_own(connection, table) == [found, found, found, None, found]


@pytest.mark.parametrize(
    ("sql_type", "value"),
    [
        ("INTEGER[2]", [1, 2.5]),
        ("NUMERIC(9,2)[2]", [1, 0.005]),
        ("DOUBLE PRECISION[2]", [2**53 + 1, 0.5]),
        ("INTEGER[2]", [1, float("nan")]),
        ("NUMERIC(9,2)[2]", [1, float("inf")]),
    ],
    ids=ids,
)
def test_numbers_that_an_array_would_change(
    connection: firearrow.Connection, table: str, sql_type: str, value: list[Any]
) -> None:
    make(connection, table, sql_type)
    with pytest.raises(firearrow.DataError):
        connection.execute(f"INSERT INTO {table} VALUES (1, ?)", (value,))
    assert read_own(connection, table) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([1, 2], "has 3 elements, the data has 2"),
        ([1, 2, 3, 4], "has 3 elements, the data has 4"),
        ([], "has 3 elements, the data has 0"),
        ([1, None, 3], "never NULL"),
        ([[1, 2, 3]], "a list can only be"),
        (["x", 2, 3], "of one type"),
        ([1, 2, object()], "cannot be parameters"),
        (5, "takes a list"),
    ],
)
def test_wrong_arrays(connection: firearrow.Connection, table: str, value: Any, words: str) -> None:
    make(connection, table, "INTEGER[3]")
    with pytest.raises(firearrow.DatabaseError, match=words):
        connection.execute(f"INSERT INTO {table} VALUES (1, ?)", (value,))
    connection.execute(f"INSERT INTO {table} VALUES (1, ?)", ([7, 8, 9],))
    assert read_own(connection, table) == [[7, 8, 9]]

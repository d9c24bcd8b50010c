"""What ``description`` tells of each type."""

from __future__ import annotations

import pytest
from columns import ids

import firearrow

DESCRIBED: list[tuple[str, str, int | None, int | None, int | None, int]] = [
    ("SMALLINT", "SMALLINT", None, 4, 0, 3),
    ("INTEGER", "INTEGER", None, 9, 0, 3),
    ("BIGINT", "BIGINT", None, 18, 0, 3),
    ("INT128", "INT128", None, 38, 0, 4),
    ("NUMERIC(9,2)", "NUMERIC", None, 9, 2, 3),
    ("DECIMAL(18,3)", "DECIMAL", None, 18, 3, 3),
    ("DECFLOAT(16)", "DECFLOAT", None, 16, None, 4),
    ("DECFLOAT(34)", "DECFLOAT", None, 34, None, 4),
    ("FLOAT", "FLOAT", None, 7, None, 3),
    ("DOUBLE PRECISION", "DOUBLE PRECISION", None, 15, None, 3),
    ("BOOLEAN", "BOOLEAN", None, None, None, 3),
    ("DATE", "DATE", None, None, None, 3),
    ("TIME", "TIME", None, None, None, 3),
    ("TIMESTAMP", "TIMESTAMP", None, None, None, 3),
    ("TIME WITH TIME ZONE", "TIME WITH TIME ZONE", None, None, None, 4),
    ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE", None, None, None, 4),
    ("CHAR(5)", "CHAR", 5, None, None, 3),
    ("VARCHAR(100)", "VARCHAR", 100, None, None, 3),
    ("CHAR(5) CHARACTER SET OCTETS", "BINARY", 5, None, None, 3),
    ("VARCHAR(5) CHARACTER SET OCTETS", "VARBINARY", 5, None, None, 3),
    ("BLOB SUB_TYPE TEXT", "BLOB SUB_TYPE TEXT", None, None, None, 3),
    ("BLOB", "BLOB", None, None, None, 3),
    ("INTEGER[3]", "ARRAY", None, None, None, 3),
]


@pytest.mark.parametrize(("sql_type", "name", "size", "precision", "scale", "since"), DESCRIBED, ids=ids)
def test_description(
    connection: firearrow.Connection,
    table: str,
    version: int,
    sql_type: str,
    name: str,
    size: int | None,
    precision: int | None,
    scale: int | None,
    since: int,
) -> None:
    """``description`` tells type, length, precision, scale, and whether NULL may come."""
    if version < since:
        pytest.skip(f"{sql_type} came with Firebird {since}")
    connection.execute(f"CREATE TABLE {table} (v {sql_type}, n {sql_type} NOT NULL)")
    connection.commit()
    described = connection.execute(f'SELECT v, n AS "Other" FROM {table}').description
    assert described is not None
    first, second = described
    assert (first.name, second.name) == ("V", "Other")
    for column in described:
        assert column.type_code == name
        assert (column.display_size, column.precision, column.scale) == (size, precision, scale)
        if name in ("NUMERIC", "DECIMAL"):
            assert column.internal_size is None
        else:
            assert column.internal_size is not None and column.internal_size > 0
    assert (first.null_ok, second.null_ok) == (True, False)

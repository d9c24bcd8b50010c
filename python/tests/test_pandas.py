"""pandas."""

import pandas as pd
import pyarrow as pa
import pytest

FRAME = pd.DataFrame({"id": [1, 2, 3], "name": ["Ä", "b", None], "ratio": [0.5, 1e300, -1.0]})


def read(connection, table: str, **options) -> pd.DataFrame:
    return pd.read_sql(f'SELECT * FROM "{table}" ORDER BY "id"', connection, **options)


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, expected, check_dtype=False)


def test_a_frame_comes_back_as_it_was_written(connection, table):
    assert FRAME.to_sql(table, connection, index=False) == 3
    same(read(connection, table), FRAME)


def test_what_becomes_of_a_table_that_exists(connection, table):
    FRAME.to_sql(table, connection, index=False)
    with pytest.raises(ValueError, match="already exists"):
        FRAME.to_sql(table, connection, index=False)
    FRAME.to_sql(table, connection, index=False, if_exists="append")
    assert len(read(connection, table)) == 6
    # An open transaction that has read a table prevents others from dropping it.
    connection.commit()
    FRAME.head(2).to_sql(table, connection, index=False, if_exists="replace")
    same(read(connection, table), FRAME.head(2))


def test_names_with_wildcards_are_not_others(connection, table):
    FRAME.to_sql(f"{table}xb", connection, index=False)
    FRAME.head(1).to_sql(f"{table}_b", connection, index=False)
    assert (len(read(connection, f"{table}xb")), len(read(connection, f"{table}_b"))) == (3, 1)


def test_arrow_keeps_the_types(cursor, connection, table):
    cursor.execute(f'CREATE TABLE {table} ("id" SMALLINT, price NUMERIC(9,2), born DATE)')
    cursor.execute(f"INSERT INTO {table} VALUES (1, 12.5, DATE '2026-02-03')")
    connection.commit()
    frame = read(connection, table, dtype_backend="pyarrow")
    types = [dtype.pyarrow_dtype for dtype in frame.dtypes]
    assert types == [pa.int16(), pa.decimal128(9, 2), pa.date32()]
    assert str(frame.iloc[0].tolist()) == "[1, Decimal('12.50'), datetime.date(2026, 2, 3)]"


def test_a_table_that_was_just_read_can_be_replaced(connection, table):
    FRAME.to_sql(table, connection, index=False)
    frame = read(connection, table)
    frame.head(1).to_sql(table, connection, index=False, if_exists="replace")
    same(read(connection, table), FRAME.head(1))

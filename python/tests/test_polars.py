"""polars, with only a URI."""

import datetime
from decimal import Decimal

import polars as pl
import pytest
from adbc_driver_firebird import dbapi
from polars.testing import assert_frame_equal

FRAME = pl.DataFrame(
    {
        "id": [1, 2, 3],
        "small": pl.Series([1, None, -3], dtype=pl.Int16),
        "price": pl.Series([Decimal("1.25"), None, Decimal("-99999999.99")], dtype=pl.Decimal(10, 2)),
        "ratio": [0.5, None, 1e300],
        "name": ["Ä", None, "long " * 1000],
        "raw": [b"\x00\xff", None, b""],
        "day": [datetime.date(2026, 1, 2), None, datetime.date(1, 1, 1)],
        "at": [datetime.datetime(2026, 1, 2, 3, 4, 5, 600), None, datetime.datetime(9999, 12, 31)],
        "clock": [datetime.time(1, 2, 3, 400), None, datetime.time(0)],
        "flag": [True, None, False],
    }
)


def read(uri: str, table: str) -> pl.DataFrame:
    return pl.read_database_uri(f'SELECT * FROM {table} ORDER BY "id"', uri, engine="adbc")


def test_a_frame_comes_back_as_it_was_written(uri, table):
    assert FRAME.write_database(table, uri, engine="adbc") == 3
    assert_frame_equal(read(uri, table), FRAME)


def test_what_becomes_of_a_table_that_exists(uri, table):
    FRAME.write_database(table, uri, engine="adbc", if_table_exists="append")
    FRAME.write_database(table, uri, engine="adbc", if_table_exists="append")
    assert read(uri, table).height == 6
    FRAME.write_database(table, uri, engine="adbc", if_table_exists="replace")
    assert_frame_equal(read(uri, table), FRAME)
    with pytest.raises(dbapi.ProgrammingError):
        FRAME.write_database(table, uri, engine="adbc", if_table_exists="fail")
    assert_frame_equal(read(uri, table), FRAME)


def test_a_connection_does_as_well(connection, table):
    FRAME.write_database(table, connection, engine="adbc")
    connection.commit()
    found = pl.read_database(
        f'SELECT "id", "name" FROM {table} WHERE "id" < ?', connection, execute_options={"parameters": [3]}
    )
    assert_frame_equal(found, FRAME.filter(pl.col("id") < 3).select("id", "name"))


def test_batches_are_read_one_by_one(connection, table):
    pl.DataFrame({"id": range(20_000)}).write_database(table, connection, engine="adbc")
    connection.commit()
    parts = list(
        pl.read_database(f'SELECT "id" FROM {table}', connection, iter_batches=True, batch_size=1000)
    )
    assert len(parts) > 1
    assert sorted(pl.concat(parts)["id"].to_list()) == list(range(20_000))


def test_types_that_polars_has_no_values_for(uri, cursor, version):
    if version < 4:
        pytest.skip("they are new in Firebird 4")
    frame = pl.read_database_uri(
        "SELECT CAST('1.5' AS DECFLOAT) D, CAST(7 AS INT128) I, "
        "CAST('2026-07-01 12:00 Europe/Berlin' AS TIMESTAMP WITH TIME ZONE) T FROM RDB$DATABASE",
        uri,
        engine="adbc",
    )
    berlin = datetime.datetime(2026, 7, 1, 10, tzinfo=datetime.timezone.utc)
    assert frame.row(0) == ("1.5", Decimal(7), berlin)


def test_a_column_without_values(uri, table):
    frame = pl.DataFrame({"a": [1, 2], "b": [None, None]})
    assert frame.schema["b"] == pl.Null
    assert frame.write_database(table, uri, engine="adbc") == 2
    back = pl.read_database_uri(f'SELECT * FROM "{table}" ORDER BY "a"', uri, engine="adbc")
    assert back.rows() == [(1, None), (2, None)]


def test_integers_that_arrow_does_not_have(uri, table):
    frame = pl.DataFrame({"a": [1, 2]}, schema={"a": pl.Int128})
    with pytest.raises(Exception, match=r'pl\.col\("a"\)\.cast\(pl\.Decimal\(38, 0\)\)') as raised:
        frame.write_database(table, uri, engine="adbc")
    assert type(raised.value).__name__ == "NotSupportedError"
    assert frame.with_columns(pl.col("a").cast(pl.Decimal(18, 0))).write_database(table, uri, engine="adbc") == 2


def test_a_table_is_replaced_by_one_with_the_same_columns_and_others(uri, table):
    pl.DataFrame({"a": [1, 2]}).write_database(table, uri, engine="adbc")
    for frame in [pl.DataFrame({"a": [3]}), pl.DataFrame({"b": ["x"]})]:
        assert frame.write_database(table, uri, engine="adbc", if_table_exists="replace") == len(frame)
        assert pl.read_database_uri(f'SELECT * FROM "{table}"', uri, engine="adbc").equals(frame)

"""Arrow in both directions, and the libraries that speak it."""

from __future__ import annotations

import datetime
import gc
import json
import sys
import threading
import time
from contextlib import closing
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from loops import run
from programs import script

import firearrow
from firearrow import aio

ROWS = 3000


def row(n: int) -> tuple[Any, ...]:
    """Return a row of the table; every seventh has NULL in all columns but the first."""
    if n % 7 == 6:
        return (n, None, None, None, None, None, None)
    return (
        n,
        f"name {n}",
        Decimal(n) / 4,
        n / 8,
        datetime.date(2000, 1, 1) + datetime.timedelta(n),
        datetime.datetime(2000, 1, 1) + datetime.timedelta(seconds=n, microseconds=100),
        n % 2 == 0,
    )


@pytest.fixture
def wide(connection: firearrow.Connection, table: str) -> str:
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER NOT NULL, name VARCHAR(20), price NUMERIC(9,2), "
        "ratio DOUBLE PRECISION, born DATE, moment TIMESTAMP, flag BOOLEAN)"
    )
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?)", map(row, range(ROWS)))
    connection.commit()
    return table


def query(connection: firearrow.Connection, wide: str) -> firearrow.Cursor:
    return connection.execute(f"SELECT * FROM {wide} ORDER BY id")


def test_table(connection: firearrow.Connection, wide: str) -> None:
    """The columns have Arrow's types, and the values of rows."""
    found = query(connection, wide).fetch_arrow_table()
    assert isinstance(found, pa.Table)
    assert [str(field.type) for field in found.schema] == [
        "int32",
        "string",
        "decimal128(9, 2)",
        "double",
        "date32[day]",
        "timestamp[us]",
        "bool",
    ]
    assert list(zip(*(column.to_pylist() for column in found.columns), strict=True)) == list(
        map(row, range(ROWS))
    )


def test_table_without_rows(connection: firearrow.Connection, wide: str) -> None:
    found = connection.execute(f"SELECT * FROM {wide} WHERE 1 = 0").fetch_arrow_table()
    assert found.num_rows == 0
    assert found.column_names == ["ID", "NAME", "PRICE", "RATIO", "BORN", "MOMENT", "FLAG"]


def test_batches(connection: firearrow.Connection, wide: str) -> None:
    """A reader reads while it is read."""
    reader = query(connection, wide).fetch_arrow_batches()
    assert isinstance(reader, pa.RecordBatchReader)
    ids: list[int] = []
    for batch in reader:
        ids += batch.column(0).to_pylist()
    assert ids == list(range(ROWS))


def test_what_is_left(connection: firearrow.Connection, wide: str) -> None:
    """Rows that were fetched are not in the stream; afterwards there are none to fetch."""
    cursor = query(connection, wide)
    assert cursor.fetchone()[0] == 0
    assert len(cursor.fetchmany(10)) == 10
    found = cursor.fetch_arrow_table()
    assert found.column("ID").to_pylist() == list(range(11, ROWS))
    with pytest.raises(firearrow.ProgrammingError):
        cursor.fetchone()
    with pytest.raises(firearrow.ProgrammingError):
        cursor.fetch_arrow_table()
    assert cursor.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_capsules(connection: firearrow.Connection, wide: str) -> None:
    """Any library takes a cursor by ``__arrow_c_stream__``."""
    assert pa.table(query(connection, wide)).num_rows == ROWS
    assert pl.DataFrame(query(connection, wide)).height == ROWS
    # One that nobody takes frees what it has.
    capsule = query(connection, wide).__arrow_c_stream__()
    assert "arrow_array_stream" in repr(capsule)
    del capsule
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_polars(connection: firearrow.Connection, wide: str) -> None:
    found = query(connection, wide).fetch_polars()
    assert isinstance(found, pl.DataFrame)
    assert found.schema["PRICE"] == pl.Decimal(9, 2)
    assert found.rows() == list(map(row, range(ROWS)))


def test_pandas(connection: firearrow.Connection, wide: str) -> None:
    found = query(connection, wide).fetch_pandas()
    assert isinstance(found, pd.DataFrame)
    assert found["ID"].tolist() == list(range(ROWS))
    assert found["NAME"][5] == "name 5"
    assert pd.isna(found["NAME"][6])
    assert found["MOMENT"][1] == pd.Timestamp("2000-01-01 00:00:01.0001")
    typed = query(connection, wide).fetch_pandas(types_mapper=pd.ArrowDtype)
    assert typed["FLAG"].isna().sum() == len([n for n in range(ROWS) if n % 7 == 6])


def test_pandas_reads_by_itself(connection: firearrow.Connection, wide: str) -> None:
    """pandas asks a DB-API connection that it does not know, with a warning."""
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        found = pd.read_sql_query(
            f"SELECT id, name FROM {wide} WHERE id < ? ORDER BY id", connection, params=(3,)
        )
    assert found.to_dict("list") == {"ID": [0, 1, 2], "NAME": ["name 0", "name 1", "name 2"]}


def test_numpy(connection: firearrow.Connection, wide: str) -> None:
    """Arrays by column; masked where values are NULL."""
    found = query(connection, wide).fetch_numpy()
    assert found["ID"].dtype == np.int32
    assert not isinstance(found["ID"], np.ma.MaskedArray)
    assert found["ID"].tolist() == list(range(ROWS))
    ratio = found["RATIO"]
    assert isinstance(ratio, np.ma.MaskedArray)
    assert ratio[6] is np.ma.masked
    assert ratio[8] == 1.0
    assert ratio.sum() == sum(n / 8 for n in range(ROWS) if n % 7 != 6)
    assert found["BORN"][1] == np.datetime64("2000-01-02")


def test_duckdb(connection: firearrow.Connection, wide: str) -> None:
    with duckdb.connect() as duck:
        relation = query(connection, wide).fetch_duckdb(duck)
        for _ in range(2):
            # A relation can be read again.
            assert relation.aggregate("count(*), sum(id), count(name)").fetchall() == [
                (ROWS, sum(range(ROWS)), len([n for n in range(ROWS) if n % 7 != 6]))
            ]


def test_types_of_firebird_4(connection: firearrow.Connection, version: int) -> None:
    """Consumers of Arrow get the types that the connection's options ask for."""
    if version < 4:
        pytest.skip("INT128, DECFLOAT and time zones came with Firebird 4")
    sql = (
        "SELECT CAST(1 AS INT128) i, CAST(1.5 AS DECFLOAT) d, "
        "CAST('2024-07-01 12:00 Europe/Berlin' AS TIMESTAMP WITH TIME ZONE) t, "
        "CAST(1.5 AS NUMERIC(38,4)) n FROM RDB$DATABASE"
    )
    found = connection.execute(sql).fetch_arrow_table()
    assert found.column("D").to_pylist() == ["1.5"]
    assert str(found.schema.field("T").type) == "timestamp[us, tz=UTC]"
    assert found.column("T").to_pylist() == [datetime.datetime(2024, 7, 1, 10, tzinfo=datetime.timezone.utc)]
    assert found.column("N").to_pylist() == [Decimal("1.5000")]
    assert int(found.column("I").to_pylist()[0]) == 1


BERLIN = "CAST('2024-07-01 12:00 Europe/Berlin' AS TIMESTAMP WITH TIME ZONE)"


@pytest.mark.parametrize(
    ("option", "value", "sql", "kind", "expected"),
    [
        ("int128", "decimal128", "CAST(-7 AS INT128)", "decimal128(38, 0)", Decimal(-7)),
        ("int128", "decimal256", "CAST(-7 AS INT128)", "decimal256(39, 0)", Decimal(-7)),
        ("int128", "utf8", f"CAST({2**127 - 1} AS INT128)", "string", str(2**127 - 1)),
        ("decimal_precision", "range", "CAST(-1.5 AS NUMERIC(18,2))", "decimal128(19, 2)", Decimal("-1.50")),
        ("decimal_precision", "storage", "CAST(-1.5 AS NUMERIC(10,2))", "decimal128(18, 2)", Decimal("-1.50")),
        ("decfloat", "float64", "CAST('-1.5E+300' AS DECFLOAT)", "double", -1.5e300),
        ("decfloat", "float64", "CAST('-Infinity' AS DECFLOAT)", "double", float("-inf")),
        ("decfloat", "decimal128(10,2)", "CAST('1.5E+3' AS DECFLOAT)", "decimal128(10, 2)", Decimal("1500.00")),
        ("decfloat", "decimal128(10,2)", "CAST('-0E-6000' AS DECFLOAT)", "decimal128(10, 2)", Decimal("0.00")),
        (
            "timestamptz",
            "with_offset",
            BERLIN,
            "struct<timestamp: timestamp[us, tz=UTC] not null, offset_minutes: int16 not null>",
            {
                "timestamp": datetime.datetime(2024, 7, 1, 10, tzinfo=datetime.timezone.utc),
                "offset_minutes": 120,
            },
        ),
        ("timestamptz", "utf8", BERLIN, "string", "2024-07-01 12:00:00.0000 +02:00 Europe/Berlin"),
        ("timetz", "time64_utc", "CAST('01:30 +02:00' AS TIME WITH TIME ZONE)", "time64[us]", datetime.time(23, 30)),
        ("timetz", "time64_utc", "CAST('22:45:01.5 -02:30' AS TIME WITH TIME ZONE)", "time64[us]", datetime.time(1, 15, 1, 500_000)),
    ],
)
def test_types_are_those_that_options_ask_for(
    database: str, version: int, option: str, value: str, sql: str, kind: str, expected: object
) -> None:
    if version < 4 and option != "decimal_precision":
        pytest.skip("INT128, DECFLOAT and time zones came with Firebird 4")
    rows = "(SELECT 1 n FROM RDB$DATABASE UNION ALL SELECT 2 FROM RDB$DATABASE)"
    query = f"SELECT CASE n WHEN 1 THEN {sql} END x FROM {rows} r"
    with closing(firearrow.connect(database, **{option: value})) as connection:
        found = connection.execute(query).fetch_arrow_table()
    assert str(found.schema.field("X").type) == kind
    assert found.column("X").to_pylist() == [expected, None]

    # Of one execution, too; rows of Python objects are the same without.
    async def work() -> None:
        async with aio.connect(database) as other:
            cursor = await other.execute(query, read={option: value})
            assert (await cursor.fetch_arrow_table()).equals(found)

    run(work())
    with closing(firearrow.connect(database)) as connection:
        cursor = connection.cursor()
        assert cursor.execute(query, read={option: value}).fetch_arrow_table().equals(found)
        assert cursor.execute(query, read={option: value}).fetchall() == cursor.execute(query).fetchall()


@pytest.mark.parametrize(
    ("option", "value", "sql"),
    [
        ("decfloat", "decimal128(10,2)", "CAST('1.239' AS DECFLOAT)"),
        ("decfloat", "decimal128(4,2)", "CAST('100' AS DECFLOAT)"),
        ("decfloat", "decimal128(10,2)", "CAST('NaN' AS DECFLOAT)"),
        ("int128", "decimal128", f"CAST({10**38} AS INT128)"),
    ],
)
def test_values_that_would_be_changed_are_errors(
    database: str, version: int, option: str, value: str, sql: str
) -> None:
    if version < 4:
        pytest.skip("INT128 and DECFLOAT came with Firebird 4")
    with closing(firearrow.connect(database, **{option: value})) as connection:
        with pytest.raises(firearrow.DataError, match="column X"):
            connection.execute(f"SELECT {sql} x FROM RDB$DATABASE").fetch_arrow_table()
        # As a Python object, it is whole.
        assert connection.execute(f"SELECT {sql} x FROM RDB$DATABASE").fetchone() is not None


def test_times_without_an_offset_name_the_remedy(database: str, version: int) -> None:
    if version < 4:
        pytest.skip("time zones came with Firebird 4")
    with closing(firearrow.connect(database, timetz="time64_utc")) as connection:
        cursor = connection.execute("SELECT TIME '10:00 Europe/Berlin' x FROM RDB$DATABASE")
        with pytest.raises(firearrow.DataError, match="column X: .* has no offset to UTC: set timetz=utf8"):
            cursor.fetch_arrow_table()


def test_moments_in_json(database: str, version: int) -> None:
    """Also those that have their offset beside them."""
    if version < 4:
        pytest.skip("time zones came with Firebird 4")
    with closing(firearrow.connect(database, timestamptz="with_offset")) as connection:
        found = connection.execute(f"SELECT {BERLIN} x FROM RDB$DATABASE").fetch_json()
    assert json.loads(found) == [{"X": {"timestamp": "2024-07-01T10:00:00Z", "offset_minutes": 120}}]


def test_ids_of_blobs_are_integers_in_pandas(database: str) -> None:
    with closing(firearrow.connect(database, blobs="lazy")) as connection:
        found = connection.execute("SELECT CAST(NULL AS BLOB) x FROM RDB$DATABASE").fetch_pandas()
    assert str(found["X"].dtype) == "UInt64"
    assert found["X"].isna().all()


def test_arrays_have_declared_precisions(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (a NUMERIC(9,2)[2])")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (?)", ([Decimal("-1.50"), Decimal("2.25")],))
    connection.execute(f"INSERT INTO {table} VALUES (NULL)")
    found = connection.execute(f"SELECT a FROM {table}").fetch_arrow_table()
    assert str(found.schema.field("A").type) == "list<item: decimal128(9, 2)>"
    assert found.column("A").to_pylist() == [[Decimal("-1.50"), Decimal("2.25")], None]


def test_blobs_and_arrays(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (t BLOB SUB_TYPE TEXT, b BLOB, a INTEGER[2])")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", ("ä" * 40_000, b"\0" * 40_000, [1, 2]))
    found = connection.execute(f"SELECT * FROM {table}").fetch_arrow_table()
    assert found.to_pylist() == [{"T": "ä" * 40_000, "B": b"\0" * 40_000, "A": [1, 2]}]


def arrow_table() -> pa.Table:
    columns = list(zip(*map(row, range(ROWS)), strict=True))
    types = [
        pa.int64(),
        pa.string(),
        pa.decimal128(9, 2),
        pa.float64(),
        pa.date32(),
        pa.timestamp("us"),
        pa.bool_(),
    ]
    arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
    return pa.table(arrays, names=[f"c{n}" for n in range(7)])


def polars_frame() -> pl.DataFrame:
    return pl.DataFrame(arrow_table())


def record_batch() -> pa.RecordBatch:
    return arrow_table().combine_chunks().to_batches()[0]


def reader() -> pa.RecordBatchReader:
    source = arrow_table()
    return pa.RecordBatchReader.from_batches(source.schema, source.to_batches(max_chunksize=170))


def chunked() -> pa.Table:
    source = arrow_table()
    return pa.concat_tables([source.slice(0, 1), source.slice(1, 2000), source.slice(2001)])


def pandas_frame() -> pd.DataFrame:
    return arrow_table().to_pandas(types_mapper=pd.ArrowDtype)


def duckdb_relation() -> Any:
    source = arrow_table()
    return duckdb.connect().from_arrow(source)


@pytest.mark.parametrize(
    "source", [arrow_table, polars_frame, record_batch, reader, chunked, pandas_frame, duckdb_relation]
)
def test_executemany_takes_arrow(
    connection: firearrow.Connection, other: firearrow.Connection, wide: str, source: Any
) -> None:
    """Columns are the parameters, in their order."""
    connection.execute(f"DELETE FROM {wide}")
    cursor = connection.executemany(f"INSERT INTO {wide} VALUES (?, ?, ?, ?, ?, ?, ?)", source())
    assert cursor.rowcount == ROWS
    connection.commit()
    assert query(other, wide).fetchall() == list(map(row, range(ROWS)))


def test_failed_rows_of_arrow(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY)")
    connection.commit()
    source = pa.table({"id": [1, 2, 2, 3, None, 4]})
    cursor = connection.executemany(f"INSERT INTO {table} VALUES (?)", source, on_error="continue")
    assert [number for number, _ in cursor.failures] == [2, 4]
    assert connection.execute(f"SELECT id FROM {table} ORDER BY 1").fetchall() == [(1,), (2,), (3,), (4,)]


def test_arrow_of_the_wrong_shape(connection: firearrow.Connection, table: str) -> None:
    """Too many and too few columns, and columns that no parameter takes."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(5))")
    connection.commit()
    insert = f"INSERT INTO {table} VALUES (?, ?)"
    for source in (
        pa.table({"a": [1]}),
        pa.table({"a": [1], "b": ["x"], "c": [2]}),
        pa.table({"a": [{"x": 1}], "b": ["x"]}),
        pa.table({"a": [1], "b": ["too long"]}),
    ):
        with pytest.raises(firearrow.Error) as caught:
            connection.executemany(insert, source)
        assert str(caught.value)
        connection.rollback()
    connection.executemany(insert, pa.table({"a": [1], "b": ["x"]}))
    assert connection.execute(f"SELECT * FROM {table}").fetchall() == [(1, "x")]


def test_a_stream_that_fails(connection: firearrow.Connection, table: str) -> None:
    """An error of the stream arrives with its text."""
    connection.execute(f"CREATE TABLE {table} (id BIGINT)")
    connection.commit()
    schema = pa.schema([("id", pa.int64())])

    def batches() -> Any:
        yield pa.record_batch([pa.array([1])], schema=schema)
        raise ValueError("the disk is full")

    source = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(firearrow.Error, match="the disk is full"):
        connection.executemany(f"INSERT INTO {table} VALUES (?)", source)
    connection.rollback()
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)


def test_a_result_that_fails(connection: firearrow.Connection) -> None:
    """An error of a row ends the stream, and reaches the consumer with the engine's text."""
    cursor = connection.execute("SELECT 1 / (RDB$RELATION_ID - RDB$RELATION_ID) FROM RDB$RELATIONS")
    with pytest.raises(Exception, match="divide by zero"):
        cursor.fetch_arrow_table()
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_a_stream_outlives_its_cursor(connection: firearrow.Connection, wide: str) -> None:
    """Consumers may read after the cursor is gone."""
    reader = query(connection, wide).fetch_arrow_batches()
    gc.collect()
    assert sum(batch.num_rows for batch in reader) == ROWS


def many_rows(connection: firearrow.Connection, wide: str) -> firearrow.Cursor:
    """A result of nine million rows."""
    return connection.execute(f"SELECT a.* FROM {wide} a CROSS JOIN {wide} b")


def test_a_stream_ends_with_its_connection(
    connection: firearrow.Connection, other: firearrow.Connection, wide: str
) -> None:
    """Closing the connection ends its streams, and nothing stays on the server; reading on fails."""
    number = connection.info["attachment"]
    reader = many_rows(connection, wide).fetch_arrow_batches()
    assert reader.read_next_batch().num_rows > 0
    whole = connection.execute(f"SELECT id FROM {wide} WHERE id < 3").fetch_arrow_batches()
    assert whole.read_all().num_rows == 3
    connection.close()
    left = other.execute("SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (number,))
    assert left.fetchone() == (0,)
    with pytest.raises(OSError, match="closed before all rows were read"):
        for _ in reader:
            pass
    assert list(whole) == [], "what was read to its end needs no connection"


def test_json_ends_with_its_connection(connection: firearrow.Connection, wide: str) -> None:
    pieces = many_rows(connection, wide).stream_json()
    assert next(pieces).startswith(b'{"ID":')
    connection.close()
    with pytest.raises(firearrow.InterfaceError, match="connection is closed"):
        next(pieces)


def test_closing_while_a_stream_is_read(connection: firearrow.Connection, wide: str) -> None:
    """The thread that reads is told at once."""
    reader = many_rows(connection, wide).fetch_arrow_batches()
    reader.read_next_batch()
    timer = threading.Timer(0.3, connection.close)
    timer.start()
    started = time.monotonic()
    with pytest.raises(OSError, match="closed before all rows were read"):
        for _ in reader:
            pass
    assert time.monotonic() - started < 3
    timer.join(5)
    assert not timer.is_alive()


def test_streams_that_nobody_reads(database: str) -> None:
    """They go in any order with their connection, at the end of the interpreter, too."""
    code = """
        import sys, pyarrow, firearrow
        query = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d"
        first = firearrow.connect(sys.argv[1])
        second = firearrow.connect(sys.argv[1])
        capsules = [first.execute(query).__arrow_c_stream__() for _ in range(3)]
        reader = second.execute(query).fetch_arrow_batches()
        reader.read_next_batch()
        first.close()
        del capsules
        second.close()
        third = firearrow.connect(sys.argv[1])
        left = third.execute(query).fetch_arrow_batches()
        left.read_next_batch()
        third.close()
    """
    done = script(database, code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("name", ["pyarrow", "polars", "numpy", "duckdb"])
def test_what_is_not_installed(
    connection: firearrow.Connection, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Libraries are optional, and the error names what to install; rows need none of them."""
    monkeypatch.setitem(sys.modules, name, None)
    fetch = {"pyarrow": "arrow_table", "polars": "polars", "numpy": "numpy", "duckdb": "duckdb"}[name]
    cursor = connection.execute("SELECT 1 FROM RDB$DATABASE")
    with pytest.raises(firearrow.InterfaceError, match=f"pip install {name}"):
        getattr(cursor, f"fetch_{fetch}")()
    assert cursor.fetchall() == [(1,)]


def test_importing_is_lean() -> None:
    """The package imports no library that is optional."""
    code = """
        import sys, firearrow
        optional = {"pyarrow", "numpy", "pandas", "polars", "duckdb", "attr", "attrs", "pydantic"}
        print(sorted(optional & set(sys.modules)))
    """
    done = script("", code)
    assert done.stdout == "[]\n", done.stderr


def test_integers_with_nulls_keep_their_digits(connection: firearrow.Connection) -> None:
    """As floats they would lose what is beyond 53 bits."""
    large = 9007199254740993
    sql = (
        f"SELECT CAST({large} AS BIGINT) n, CAST(7 AS SMALLINT) s, 1 w FROM RDB$DATABASE "
        "UNION ALL SELECT NULL, NULL, 2 FROM RDB$DATABASE"
    )
    frame = connection.execute(sql).fetch_pandas()
    assert [str(dtype) for dtype in frame.dtypes] == ["Int64", "Int16", "int32"]
    assert frame["N"][0] == large
    assert frame["N"].isna().tolist() == [False, True]
    arrays = connection.execute(sql).fetch_numpy()
    assert (int(arrays["N"][0]), arrays["N"].dtype.kind, arrays["N"].mask.tolist()) == (
        large,
        "i",
        [False, True],
    )
    floats = connection.execute(sql).fetch_pandas(integer_object_nulls=False)
    assert str(floats["N"].dtype) == "float64"

"""Tables and streams of pyarrow."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from adbc_driver_firebird import dbapi

ROWS = 30_000


def batches():
    for start in range(0, ROWS, 10_000):
        numbers = range(start, start + 10_000)
        yield pa.record_batch(
            {
                "id": pa.array(numbers, pa.int64()),
                "price": pa.array([Decimal(n) / 100 for n in numbers], pa.decimal128(12, 2)),
                "name": pa.array([f"Näme {n}" if n % 3 else None for n in numbers]),
                "day": pa.array([datetime.date(2000, 1, 1) + datetime.timedelta(n % 9000) for n in numbers]),
            }
        )


def test_a_stream_comes_back_as_it_was_written(cursor, connection, table):
    expected = pa.Table.from_batches(batches())
    reader = pa.RecordBatchReader.from_batches(expected.schema, batches())
    assert cursor.adbc_ingest(table, reader, mode="create") == ROWS
    connection.commit()
    cursor.execute(f'SELECT "id", "price", "name", "day" FROM {table} ORDER BY "id"')
    found = cursor.fetch_record_batch()
    counts = 0
    parts = []
    for batch in found:
        counts += 1
        parts.append(batch)
    assert counts > 1
    assert pa.Table.from_batches(parts).cast(expected.schema).equals(expected)


@pytest.mark.parametrize("mode", ["create", "append", "replace", "create_append"])
def test_modes_of_ingestion(cursor, connection, table, mode):
    rows = pa.table({"a": pa.array([1, 2], pa.int32())})

    def present():
        cursor.execute(f'SELECT "a" FROM {table}')
        return [value for (value,) in cursor.fetchall()]

    if mode == "append":
        with pytest.raises(dbapi.ProgrammingError, match=table):
            cursor.adbc_ingest(table, rows, mode=mode)
        connection.rollback()
        cursor.adbc_ingest(table, rows.slice(0, 0), mode="create")
    assert cursor.adbc_ingest(table, rows, mode=mode) == 2
    connection.commit()
    assert present() == [1, 2]
    if mode == "create":
        with pytest.raises(dbapi.ProgrammingError) as found:
            cursor.adbc_ingest(table, rows, mode=mode)
        assert found.value.sqlstate == "42S01"
        return
    connection.commit()
    assert cursor.adbc_ingest(table, rows, mode=mode) == 2
    connection.commit()
    assert present() == ([1, 2] if mode == "replace" else [1, 2, 1, 2])


def test_batches_outlive_their_connection(uri):
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT RDB$RELATION_NAME FROM RDB$RELATIONS ORDER BY 1")
        table = cursor.fetch_arrow_table()
    assert table.column(0)[0].as_py().startswith("MON$")


def test_fields_tell_where_they_come_from(cursor, connection, table):
    cursor.execute(f"CREATE TABLE {table} (n NUMERIC(9,3), u CHAR(16) CHARACTER SET OCTETS)")
    cursor.execute(f"SELECT n, u FROM {table}")
    schema = cursor.fetch_arrow_table().schema
    assert (schema.field(0).type, schema.field(1).type) == (pa.decimal128(9, 3), pa.binary(16))
    assert schema.field(0).metadata[b"FIREBIRD:type"] == b"NUMERIC"
    assert schema.field(1).metadata[b"FIREBIRD:relation"] == table.encode()

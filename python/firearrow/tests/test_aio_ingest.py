"""``Cursor.ingest`` of ``firearrow.aio``."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator
from typing import Any

import pytest
from frames import expected, numbers, pyarrow, rows
from loops import one, run

import firearrow
from firearrow import aio


def test_ingest(database: str, connection: firearrow.Connection, table: str) -> None:
    polars = pytest.importorskip("polars")

    async def work() -> None:
        async with aio.connect(database) as other:
            cursor = other.cursor()
            with pytest.raises(firearrow.ProgrammingError, match=table):
                await cursor.ingest(numbers(1), table)
            with pytest.raises(firearrow.ProgrammingError, match="mode"):
                await cursor.ingest(numbers(1), table, mode="other")
            with pytest.raises(firearrow.ProgrammingError, match="Arrow"):
                await cursor.ingest([(1, "a")], table)
            assert await cursor.ingest(numbers(10), table, mode="create", text=20) == 10
            assert cursor.rowcount == 10
            assert rows(connection, table) == []
            await other.commit()
            assert rows(connection, table) == expected(10)
            [column] = [column for column in connection.catalog.columns(table) if column.name == "NAME"]
            assert (column.type_name, column.characters) == ("VARCHAR", 20)
            with pytest.raises(firearrow.ProgrammingError, match="exists"):
                await cursor.ingest(numbers(10), table, mode="create")
            assert await cursor.ingest(polars.DataFrame({"ID": [10], "NAME": ["n10"]}), table) == 1
            assert await cursor.ingest(numbers(5, 11), table, mode="create_append") == 5
            await other.commit()
            assert rows(connection, table) == expected(16)
            # A transaction that has begun would not see a new table.
            await one(other)
            with pytest.raises(firearrow.ProgrammingError, match="commit or roll back"):
                await cursor.ingest(numbers(1), table, mode="replace")
            await other.commit()
            # Many batches, of a stream that is read while rows are sent.
            batches = (numbers(1_000, start).to_batches()[0] for start in range(0, 30_000, 1_000))
            reader = pyarrow.RecordBatchReader.from_batches(numbers(0).schema, batches)
            assert await cursor.ingest(reader, table, mode="replace") == 30_000
            await other.commit()
            assert rows(connection, table) == expected(30_000)
            [column] = [column for column in connection.catalog.columns(table) if column.name == "NAME"]
            assert (column.type_name, column.characters) == ("VARCHAR", 64)
            connection.commit()
            async with other.begin() as transaction:
                assert await transaction.cursor().ingest(numbers(2, 30_000), table) == 2
            assert len(rows(connection, table)) == 30_002
            await other.set_autocommit(True)
            assert await other.cursor().ingest(numbers(3), table, mode="replace") == 3
            assert rows(connection, table) == expected(3)
            # From a cursor of a blocking connection.
            source = connection.execute("SELECT rdb$type AS id, TRIM(rdb$type_name) AS name FROM rdb$types")
            count = await other.cursor().ingest(source, table)
            connection.commit()
            assert count > 100
            assert len(rows(connection, table)) == 3 + count

    run(work())


def test_ingest_of_rows_that_fail(database: str, connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name VARCHAR(10))")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (4, 'x')")
    connection.commit()

    def failing() -> Iterator[Any]:
        yield numbers(10, 100).to_batches()[0]
        raise ZeroDivisionError("of the reader")

    async def work() -> None:
        async with aio.connect(database, autocommit=True) as other:
            with pytest.raises(firearrow.IntegrityError) as raised:
                await other.cursor().ingest(numbers(10), table)
            assert raised.value.row == 4
            reader = pyarrow.RecordBatchReader.from_batches(numbers(0).schema, failing())
            with pytest.raises(firearrow.Error, match="of the reader"):
                await other.cursor().ingest(reader, table)
            with pytest.raises(firearrow.Error):
                await other.cursor().ingest(pyarrow.table({"NOTHING": [1]}), table)
            assert await one(other) == 1
            # As with executemany.
            with pytest.raises(firearrow.IntegrityError) as raised:
                await other.executemany(f"INSERT INTO {table} VALUES (?, ?)", numbers(10))
            assert raised.value.row == 4
            # Rows are counted over all batches.
            reader = pyarrow.RecordBatchReader.from_batches(
                numbers(0).schema, numbers(10).to_batches(max_chunksize=3)
            )
            async with other.begin() as transaction:
                cursor = await transaction.executemany(
                    f"INSERT INTO {table} VALUES (?, ?)", reader, on_error="continue"
                )
                assert [row for row, _ in cursor.failures] == [4]
                assert cursor.rowcount == 9
                await transaction.rollback()

    run(work())
    assert connection.execute(f"SELECT id, name FROM {table}").fetchall() == [(4, "x")]


def test_cancelled_ingestion(database: str, connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(10))")
    connection.commit()
    chance = random.Random(3)
    data = numbers(5_000)

    def slow() -> Iterator[Any]:
        for start in range(0, 5_000, 500):
            time.sleep(0.002)
            yield data.slice(start, 500).to_batches()[0]

    async def work() -> None:
        other = await aio.connect(database, autocommit=True)
        whole = cancelled = closed = 0
        try:
            for number in range(30):
                given = pyarrow.RecordBatchReader.from_batches(data.schema, slow()) if number % 2 else data
                task = asyncio.create_task(other.cursor().ingest(given, table))
                await asyncio.sleep(chance.random() ** 2 * 0.08)
                task.cancel()
                try:
                    assert await task == 5_000
                    whole += 1
                except asyncio.CancelledError:
                    cancelled += 1
                try:
                    assert await one(other) == 1
                except firearrow.Error:
                    assert not other.is_alive
                    closed += 1
                    await other.close()
                    other = await aio.connect(database, autocommit=True)
            assert cancelled > 5 and closed <= 3, (whole, cancelled, closed)
            cursor = await other.execute(f"SELECT COUNT(*), COUNT(DISTINCT id) FROM {table}")
            count, _ = await cursor.fetchone()
            # All rows of an ingestion or none. One that was cancelled while it committed may have ended.
            assert count % 5_000 == 0
            assert whole <= count // 5_000 <= whole + cancelled
            assert await other.cursor().ingest(data, table) == 5_000
        finally:
            await other.close()

    run(work(), 120)

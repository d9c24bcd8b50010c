"""JSON of ``firearrow.aio``."""

from __future__ import annotations

import asyncio
import datetime
import decimal
import json
import random

import pytest
from loops import one, run

import firearrow
from firearrow import aio


def test_json(database: str, connection: firearrow.Connection, table: str) -> None:
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER, price NUMERIC(9, 2), name VARCHAR(20), born DATE, data BLOB)"
    )
    connection.commit()
    rows = [
        (
            id,
            decimal.Decimal("1.10"),
            'ž "quoted"' if id % 2 else None,
            datetime.date(2024, 2, 29),
            b"\x00\xff",
        )
        for id in range(12_000)
    ]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    select = f"SELECT * FROM {table} ORDER BY id"
    expected = [
        {"ID": id, "PRICE": 1.1, "NAME": name, "BORN": "2024-02-29", "DATA": "00ff"}
        for id, _, name, _, _ in rows
    ]

    async def work() -> None:
        async with aio.connect(database) as other:
            found = await (await other.execute(select)).fetch_json()
            assert json.loads(found) == expected
            assert found == connection.execute(select).fetch_json()
            cursor = await other.execute(select)
            pieces = [piece async for piece in cursor.stream_json()]
            assert len(pieces) > 1
            assert all(piece.endswith(b"\n") for piece in pieces)
            assert [json.loads(line) for line in b"".join(pieces).splitlines()] == expected
            assert b"".join(pieces) == b"".join(connection.execute(select).stream_json())
            # Those that are left.
            cursor = await other.execute(select)
            assert await cursor.fetchmany(24_990) == rows[:24_990]
            assert json.loads(await cursor.fetch_json()) == expected[24_990:]
            assert await cursor.fetch_json() == b"[]"
            assert [piece async for piece in cursor.stream_json()] == []
            cursor = await other.execute(f"SELECT * FROM {table} WHERE id < 0")
            assert await cursor.fetch_json() == b"[]"
            cursor = await other.execute(f"INSERT INTO {table} (id) VALUES (-1) RETURNING id")
            assert await cursor.fetch_json() == b'[{"ID":-1}]'
            await other.rollback()
            with pytest.raises(firearrow.ProgrammingError, match="execute a query"):
                await other.cursor().fetch_json()
            cursor = await other.execute(f"SELECT 1 / (id - 10000) FROM {table} ORDER BY id")
            with pytest.raises(firearrow.DatabaseError, match="zero"):
                await cursor.fetch_json()
            # Another execution ends the stream.
            cursor = await other.execute(select)
            stream = cursor.stream_json()
            assert (await anext(stream)).startswith(b'{"ID":0,')
            await cursor.execute("SELECT 1 AS id FROM rdb$database")
            with pytest.raises(firearrow.ProgrammingError, match="another statement"):
                await anext(stream)
            assert await cursor.fetchone() == (1,)
            await cursor.close()
            with pytest.raises(firearrow.InterfaceError):
                await cursor.fetch_json()
            cursor = await other.execute(select)
            async for piece in cursor.stream_json():
                assert piece
                break
            assert await one(other) == 1

    run(work())


def test_json_of_values(database: str, connection: firearrow.Connection, numbers: str) -> None:
    """Names come once, also those that are no names in Python, or twice the same, or without any row."""
    connection.executemany(f"INSERT INTO {numbers} VALUES (?)", ((n,) for n in range(20_000)))
    connection.commit()
    columns = f"""SELECT n AS "a ""b"" \\ ž", 'x' AS same, CAST(NULL AS DATE) AS same FROM {numbers}"""
    names = ['a "b" \\ ž', "SAME", "SAME"]
    values = [[n, "x", None] for n in range(20_000)]
    for select, rows in ((f"{columns} ORDER BY n", values), (f"{columns} WHERE n < 0", [])):
        found = connection.execute(select).fetch_json(orient="values")
        assert json.loads(found) == {"columns": names, "data": rows}
        pieces = list(connection.execute(select).stream_json(orient="values"))
        assert all(piece.endswith(b"\n") for piece in pieces)
        assert [json.loads(line) for line in b"".join(pieces).splitlines()] == [names, *rows]

        async def work(select: str = select, found: bytes = found, pieces: list[bytes] = pieces) -> None:
            async with aio.connect(database) as other:
                assert await (await other.execute(select)).fetch_json(orient="values") == found
                cursor = await other.execute(select)
                lines = b"".join([piece async for piece in cursor.stream_json(orient="values")])
                assert lines == b"".join(pieces)

        run(work())
    with pytest.raises(firearrow.ProgrammingError, match="orient must be 'records' or 'values', not 'split'"):
        connection.execute(columns).stream_json(orient="split")
    with pytest.raises(firearrow.OperationalError, match="more than 10 rows"):
        connection.execute(columns, max_result_rows=10).fetch_json(orient="values")


def test_pandas_reads_json_of_values(connection: firearrow.Connection) -> None:
    import io

    import pandas

    select = "SELECT 1 AS a, 'x' AS b FROM RDB$DATABASE"
    text = connection.execute(select).fetch_json(orient="values")
    frame = pandas.read_json(io.BytesIO(text), orient="split")
    assert (list(frame.columns), frame.to_numpy().tolist()) == (["A", "B"], [[1, "x"]])


def test_cancelled_json(database: str) -> None:
    select = "SELECT a.*, b.rdb$field_name AS other FROM rdb$fields a, rdb$fields b ROWS 40000"
    chance = random.Random(4)

    async def work() -> None:
        async with aio.connect(database) as other:
            cancelled = 0
            for _ in range(20):
                cursor = await other.execute(select)
                task = asyncio.create_task(cursor.fetch_json())
                await asyncio.sleep(chance.random() * 0.05)
                task.cancel()
                try:
                    assert len(json.loads(await task)) == 40_000
                except asyncio.CancelledError:
                    cancelled += 1
                assert await one(other) == 1
            assert cancelled > 0

    run(work(), 120)

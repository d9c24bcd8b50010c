"""Tasks that are cancelled, or run out of time, wherever they wait."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from loops import one, run
from statements import LONG

import firearrow
from firearrow import aio


def test_a_cancelled_query_interrupts_the_server(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            for _ in range(3):
                query = asyncio.create_task(connection.execute(LONG))
                await asyncio.sleep(0.1)
                query.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await query
                begun = time.monotonic()
                assert await one(connection) == 1
                assert time.monotonic() - begun < 5
                assert connection.is_alive

    run(work())


def test_a_cancelled_query_leaves_the_transaction(database: str, table: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            await connection.execute(f"CREATE TABLE {table} (id INTEGER)")
            await connection.commit()
            await connection.execute(f"INSERT INTO {table} VALUES (1)")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connection.execute(LONG), 0.1)
            await connection.execute(f"INSERT INTO {table} VALUES (2)")
            await connection.commit()
            cursor = await connection.execute(f"SELECT id FROM {table} ORDER BY id")
            assert await cursor.fetchall() == [(1,), (2,)]

    run(work())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout needs Python 3.11 or newer")
def test_timeouts(database: str, version: int) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            begun = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await connection.execute(LONG)
            assert 0.15 < time.monotonic() - begun < 2
            assert await one(connection) == 1
            with pytest.raises(firearrow.OperationalError) as raised:
                await (await connection.execute(LONG, timeout=0.2)).fetchone()
            assert raised.value.kind == "Timeout"
            assert await one(connection) == 1

    run(work())


def test_a_cancelled_wait_for_a_lock(database: str, table: str) -> None:
    async def work() -> None:
        first, second = await aio.connect(database), await aio.connect(database)
        await first.execute(f"CREATE TABLE {table} (id INTEGER)")
        await first.commit()
        await first.execute(f"INSERT INTO {table} VALUES (1)")
        await first.commit()
        await first.execute(f"UPDATE {table} SET id = 2")
        waiting = asyncio.create_task(second.execute(f"UPDATE {table} SET id = 3"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        # The server may not have listened: then the connection was closed, and says so.
        try:
            assert await asyncio.wait_for(one(second), 20) == 1
        except firearrow.OperationalError:
            assert not second.is_alive
        await second.close()
        await first.commit()
        assert await (await first.execute(f"SELECT id FROM {table}")).fetchall() == [(2,)]
        await first.close()

    run(work())


def test_queued_calls_can_be_cancelled(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            running = asyncio.create_task(connection.execute(LONG))
            await asyncio.sleep(0.05)
            queued = [asyncio.create_task(connection.begin().execute(LONG)) for _ in range(5)]
            await asyncio.sleep(0.05)
            for task in queued:
                task.cancel()
            done = await asyncio.gather(*queued, return_exceptions=True)
            assert all(isinstance(error, asyncio.CancelledError) for error in done)
            assert not running.done()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert await one(connection) == 1

    run(work())


async def interrupted(
    database: str, session: Callable[[aio.Connection], Coroutine[Any, Any, None]], delays: list[float]
) -> aio.Connection:
    """Cancel a session after each delay; afterwards its connection works, or is known to be closed."""
    connection = await aio.connect(database)
    closed = 0
    for delay in delays:
        task = asyncio.create_task(session(connection))
        await asyncio.sleep(delay)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        try:
            # A commit may be among what was cancelled.
            await connection.rollback()
            assert await one(connection) == 1
            await connection.rollback()
        except firearrow.Error:
            assert not connection.is_alive
            closed += 1
            await connection.close()
            connection = await aio.connect(database)
    # The server listens nearly always.
    assert closed <= len(delays) // 10
    return connection


@pytest.mark.parametrize("seed", range(4))
def test_cancelled_wherever_it_waits(
    database: str, connection: firearrow.Connection, table: str, seed: int
) -> None:
    """Statements: what was committed is whole rounds of the session."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.commit()
    chance = random.Random(seed)
    # The first is long enough for a round on any machine.
    delays = [2.0, *(chance.random() ** 3 * 0.1 for _ in range(50))]
    rounds = 0

    async def session(connection: aio.Connection) -> None:
        nonlocal rounds
        cursor = connection.cursor()
        while True:
            await cursor.execute(f"INSERT INTO {table} VALUES (?)", (1,))
            await cursor.executemany(f"INSERT INTO {table} VALUES (?)", [(2,), (3,)])
            async with connection.savepoint():
                await cursor.execute(f"UPDATE {table} SET id = id + 1")
            await cursor.execute("SELECT a.* FROM rdb$fields a, rdb$fields b ROWS 3000")
            await cursor.fetchone()
            await cursor.fetchmany(1000)
            async with connection.begin(lock_timeout=0) as transaction:
                await (await transaction.execute(f"SELECT COUNT(*) FROM {table}")).fetchone()
            await cursor.execute(f"SELECT id FROM {table}")
            await cursor.fetchall()
            await connection.commit()
            rounds += 1
            await connection.info
            await cursor.close()
            cursor = connection.cursor()

    async def work() -> None:
        other = await interrupted(database, session, delays)
        count = await one(other, f"SELECT COUNT(*) FROM {table}")
        await other.close()
        assert count % 3 == 0
        # A commit that was cancelled may have ended.
        assert 0 < rounds <= count // 3 <= rounds + len(delays)

    run(work(), 120)


@pytest.mark.parametrize("seed", range(3))
def test_cancelled_wherever_they_wait(
    database: str, connection: firearrow.Connection, table: str, seed: int
) -> None:
    """BLOBs, the catalog, ingestion, JSON and events: nothing of it was committed."""
    import frames  # needs pyarrow

    connection.execute(f"CREATE TABLE {table} (id INTEGER, name VARCHAR(10), data BLOB)")
    connection.commit()
    chance = random.Random(seed)
    delays = [chance.random() ** 2 * 0.2 for _ in range(40)]
    data = frames.numbers(2_000)
    piece = chance.randbytes(100_000)

    async def session(other: aio.Connection) -> None:
        while True:
            async with other.create_blob() as blob:
                await blob.write(piece)
                await blob.write(piece)
            insert = f"INSERT INTO {table} (id, data) VALUES (1, ?) RETURNING data"
            cursor = await other.execute(insert, (blob.id,), read={"blobs": "lazy"})
            (number,) = await cursor.fetchone()
            async with other.open_blob(number) as reader:
                await reader.seek(1_000)
                assert await reader.read(150_000) == (piece * 2)[1_000:151_000]
                await reader.seek(0)
                assert await reader.read() == piece * 2
            await other.catalog.columns()
            await cursor.ingest(data, table)
            await cursor.execute(f"SELECT id, name FROM {table} ROWS 5000")
            await cursor.fetch_json()
            async with other.events("a", "b") as events:
                await events.wait(timeout=0.005)
            await cursor.execute("SELECT * FROM rdb$fields")
            async for _ in cursor.stream_json():
                pass
            await other.rollback()

    async def work() -> None:
        other = await interrupted(database, session, delays)
        assert await one(other, f"SELECT COUNT(*) FROM {table}") == 0
        begun = time.monotonic()
        await other.close()
        assert time.monotonic() - begun < 5

    run(work(), 120)


def test_cancelled_connects(database: str) -> None:
    async def work() -> None:
        for number in range(20):
            task = asyncio.create_task(aio.connect(database))
            await asyncio.sleep(number * 0.001)
            task.cancel()
            try:
                connection = await task
            except asyncio.CancelledError:
                continue
            await connection.close()
        async with aio.connect(database) as connection:
            assert await one(connection) == 1

    run(work())

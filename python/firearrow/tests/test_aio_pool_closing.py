"""The end of an asynchronous pool: closed, left open, at the end of the program."""

from __future__ import annotations

import asyncio
import gc
import pathlib
import time

import pytest
from loops import attachment, one, run, until
from programs import script
from statements import LONG, values

import firearrow
from firearrow import PoolClosed, aio
from firearrow.aio import Pool


def test_closing_waits_for_borrowers(database: str, numbers: str, other: firearrow.Connection) -> None:
    async def work() -> None:
        pool = Pool(database)
        connection = await pool.acquire()

        async def insert() -> None:
            await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
            await asyncio.sleep(0.3)
            await connection.commit()
            await connection.close()

        task = asyncio.create_task(insert())
        await pool.close(timeout=20)
        await task
        assert pool.closed and pool.stats.size == 0
        await pool.close()

    run(work())
    assert values(other, numbers) == [1]


def test_closing_ends_what_takes_too_long(database: str) -> None:
    async def work() -> None:
        pool = Pool(database, max_size=1)

        async def endless() -> None:
            async with pool.connection() as connection:
                await one(connection, LONG)

        running = asyncio.create_task(endless())
        await until(lambda: pool.stats.in_use == 1)
        waiting = asyncio.create_task(pool.acquire())
        await asyncio.sleep(0.2)
        start = time.monotonic()
        await pool.close(timeout=0.3)
        assert time.monotonic() - start < 15
        errors = await asyncio.gather(running, waiting, return_exceptions=True)
        assert isinstance(errors[0], firearrow.Error) and isinstance(errors[1], PoolClosed), errors
        assert pool.stats.size == 0
        with pytest.raises(PoolClosed):
            await pool.acquire()

    run(work())


def test_what_was_left_open_is_told(database: str) -> None:
    async def work() -> None:
        pool = Pool(database, max_size=1, acquire_timeout=20)
        with pytest.warns(ResourceWarning, match="was not given back"):
            connection: aio.PooledConnection | None = await pool.acquire()
            assert connection is not None
            first = await attachment(connection)
            connection = None
            gc.collect()
        # It comes back in the background, or makes room for another one.
        async with pool.connection() as again:
            assert await attachment(again) and first
        with pytest.warns(ResourceWarning, match=r"firearrow.aio.Pool: .* was not closed"):
            del pool, again
            gc.collect()

    run(work())


def test_a_program_may_end_without_closing_anything(
    database: str, is_wire: bool, tmp_path: pathlib.Path
) -> None:
    if not is_wire:
        # The engine of this process keeps others out of its databases.
        database = str(tmp_path / "own.fdb")
    done = script(
        database,
        """
        import asyncio, sys
        from firearrow import aio
        pool = aio.Pool(sys.argv[1], min_size=2, create_if_missing=True)
        async def work():
            await pool.wait(20)
            connection = await pool.acquire()
            cursor = await connection.execute('SELECT 7 FROM RDB$DATABASE')
            print((await cursor.fetchone())[0])
            return connection
        connection = asyncio.run(work())
        """,
        "-W",
        "default::ResourceWarning",
    )
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert "<firearrow.aio.Pool: 1 in use, 1 idle, at most 10> was not closed" in done.stderr

"""``firearrow.aio`` with many tasks at a time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loops import one, run
from statements import LONG

import firearrow
from firearrow import aio


def test_200_queries_over_20_connections(database: str) -> None:
    async def work() -> None:
        connections = await asyncio.gather(*(aio.connect(database, autocommit=True) for _ in range(20)))

        async def query(number: int) -> Any:
            sql = "SELECT CAST(? AS INTEGER) FROM rdb$database"
            cursor = await connections[number % 20].execute(sql, (number,))
            return await cursor.fetchone()

        answers = await asyncio.gather(*(query(number) for number in range(200)))
        assert answers == [(number,) for number in range(200)]
        await asyncio.gather(*(connection.close() for connection in connections))

    run(work())


def test_the_loop_runs_while_the_server_works(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            query = asyncio.create_task(connection.execute(LONG))
            for _ in range(20):
                await asyncio.sleep(0.01)
            assert not query.done()
            connection.cancel()
            cursor = await query
            with pytest.raises(firearrow.OperationalError) as raised:
                await cursor.fetchone()
            assert raised.value.kind == "Cancelled"
            assert await one(connection) == 1

    run(work())


def test_one_cursor_in_two_tasks(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            cursor = await connection.execute("SELECT a.rdb$type FROM rdb$types a, rdb$types b ROWS 30000")

            async def read() -> int:
                count = 0
                while await cursor.fetchone() is not None:
                    count += 1
                return count

            assert sum(await asyncio.gather(read(), read(), read())) == 30000

    run(work())


def test_uvloop(database: str) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def work() -> None:
        async with aio.connect(database) as connection:
            cursor = await connection.execute("SELECT a.* FROM rdb$types a, rdb$fields b ROWS 20000")
            assert len(await cursor.fetchall()) == 20000
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connection.execute(LONG), 0.1)
            assert await one(connection) == 1

    for _ in range(3):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(asyncio.wait_for(work(), 30))

"""Tasks that wait for a connection of an asynchronous pool."""

from __future__ import annotations

import asyncio
import time

import pytest
from loops import attachment, opened, run, until
from statements import values

import firearrow
from firearrow import PoolTimeout


def test_two_hundred_tasks_share_four_connections(
    database: str, numbers: str, connection: firearrow.Connection
) -> None:
    async def work() -> None:
        async with opened(database, max_size=4, acquire_timeout=60, lock_timeout=30) as pool:

            async def insert(number: int) -> None:
                for turn in range(5):
                    async with pool.connection() as borrowed:
                        stats = pool.stats
                        assert stats.size <= 4 and stats.in_use + stats.idle <= stats.size
                        await borrowed.execute(f"INSERT INTO {numbers} VALUES (?)", (number * 5 + turn,))

            await asyncio.gather(*(insert(number) for number in range(200)))
            stats = pool.stats
            assert stats.acquired == 1000 and stats.opened <= 4 and stats.timeouts == 0
            assert stats.waited > 0 and stats.wait_time > 0

    run(work(), 120)
    assert values(connection, numbers) == list(range(1000))


def test_first_come_first_served(database: str) -> None:
    async def work() -> None:
        served: list[int] = []
        async with opened(database, max_size=1) as pool:
            held = await pool.acquire()

            async def borrow(number: int) -> None:
                connection = await pool.acquire()
                served.append(number)
                await asyncio.sleep(0.002)
                await pool.release(connection)

            tasks = []
            for number in range(10):
                tasks.append(asyncio.create_task(borrow(number)))
                await until(lambda number=number: pool.stats.waiting == number + 1)  # type: ignore[misc]
            await pool.release(held)
            # Who comes now comes last.
            await borrow(10)
            await asyncio.gather(*tasks)
        assert served == list(range(11))

    run(work())


def test_a_wait_ends(database: str) -> None:
    async def work() -> None:
        async with opened(database, max_size=1, acquire_timeout=0.2) as pool:
            async with pool.connection(timeout=20):
                start = time.monotonic()
                with pytest.raises(PoolTimeout, match=r"1 of 1 are in use.*max_size"):
                    await pool.acquire()
                assert 0.2 <= time.monotonic() - start < 5
                with pytest.raises(firearrow.OperationalError):
                    await pool.acquire(timeout=0)
            assert (pool.stats.timeouts, pool.stats.waiting) == (2, 0)
            async with pool.connection(timeout=float("inf")) as connection:
                assert await attachment(connection)

    run(work())

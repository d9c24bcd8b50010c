"""Tasks that are cancelled while they borrow, hold or give back a connection of an asynchronous pool."""

from __future__ import annotations

import asyncio
import random

import pytest
from loops import attachment, one, opened, run, until
from statements import LONG, left_open, values

import firearrow
from firearrow.aio import Pool


def test_a_cancelled_wait_leaves_the_queue(database: str) -> None:
    async def work() -> None:
        served: list[int] = []

        async def borrow(pool: Pool, number: int) -> None:
            async with pool.connection() as connection:
                served.append(number)
                await one(connection)

        async with opened(database, max_size=1) as pool:
            held = await pool.acquire()
            tasks = [asyncio.create_task(borrow(pool, number)) for number in range(6)]
            await until(lambda: pool.stats.waiting == 6)
            for number in (0, 2, 5):
                tasks[number].cancel()
            await until(lambda: pool.stats.waiting == 3)
            await held.close()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert [isinstance(result, asyncio.CancelledError) for result in results] == [
                True, False, True, False, False, True,
            ]  # fmt: skip
            assert served == [1, 3, 4]
            assert pool.stats.opened == 1

    run(work())


def test_a_wait_that_is_cancelled_when_it_succeeds_hands_on(database: str) -> None:
    async def work() -> None:
        async with opened(database, max_size=1) as pool:
            held = await pool.acquire()
            first = asyncio.create_task(pool.acquire())
            second = asyncio.create_task(pool.acquire())
            await until(lambda: pool.stats.waiting == 2)
            await held.close()
            # The first one has got it, and has not run since.
            assert pool.stats.waiting == 1
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            connection = await second
            assert await one(connection) == 1
            await connection.close()
            assert (pool.stats.opened, pool.stats.idle) == (1, 1)

    run(work())


def test_a_cancelled_holder_gives_back(database: str, numbers: str, other: firearrow.Connection) -> None:
    async def work() -> None:
        async def hold(pool: Pool) -> None:
            async with pool.connection() as connection:
                await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
                await connection.execute(LONG)

        async with opened(database, max_size=1) as pool:
            for _ in range(3):
                holder = asyncio.create_task(hold(pool))
                await asyncio.sleep(0.2)
                assert pool.stats.in_use == 1
                waiter = asyncio.create_task(pool.acquire())
                await asyncio.sleep(0)
                holder.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await holder
                connection = await asyncio.wait_for(waiter, 10)
                assert await one(connection) == 1
                await connection.close()
            assert pool.stats.opened <= 2

    run(work())
    assert values(other, numbers) == []


def test_a_cancelled_release_goes_on(database: str, numbers: str, other: firearrow.Connection) -> None:
    async def work() -> None:
        async with opened(database, max_size=1) as pool:
            for turns in range(4):
                connection = await pool.acquire()
                await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
                release = asyncio.create_task(pool.release(connection))
                for _ in range(turns):
                    await asyncio.sleep(0)
                release.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await release
                if not turns:
                    # It did not even begin.
                    await pool.release(connection)
                async with pool.connection() as connection:
                    assert await one(connection) == 1
            assert pool.stats.opened == 1
            assert left_open(other) == 0

    run(work())
    assert values(other, numbers) == []


def test_a_cancelled_check_keeps_the_connection(database: str) -> None:
    async def work() -> None:
        async with opened(database, max_size=1, check_after=0) as pool:
            async with pool.connection() as connection:
                first = await attachment(connection)
            for turns in range(1, 4):
                borrower = asyncio.create_task(pool.acquire())
                for _ in range(turns):
                    await asyncio.sleep(0)
                borrower.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await borrower
            async with pool.connection() as connection:
                assert await attachment(connection) == first
            assert (pool.stats.opened, pool.stats.failed_checks) == (1, 0)

    run(work())


@pytest.mark.parametrize("seed", range(3))
def test_tasks_that_are_cancelled_anywhere(
    database: str, numbers: str, seed: int, other: firearrow.Connection
) -> None:
    """Whatever they were doing: no connection is lost, and nothing is left open."""
    chance = random.Random(seed)

    async def borrow(pool: Pool, number: int) -> None:
        while True:
            async with pool.connection() as connection:
                await connection.execute(f"INSERT INTO {numbers} VALUES (?)", (number,))
                cursor = await connection.execute("SELECT a.* FROM RDB$FIELDS a ROWS 500")
                await cursor.fetchmany(10)
            connection = await pool.acquire()
            try:
                await connection.execute(f"INSERT INTO {numbers} VALUES (-1)")
            finally:
                await connection.close()

    async def work() -> None:
        async with opened(database, max_size=4, check_after=0.001) as pool:
            tasks: list[asyncio.Task[None]] = []
            for number in range(120):
                tasks.append(asyncio.create_task(borrow(pool, number)))
                await asyncio.sleep(chance.random() ** 3 * 0.03)
                if len(tasks) > 12:
                    task = tasks.pop(chance.randrange(len(tasks)))
                    task.cancel()
                    await asyncio.wait((task,), timeout=20)
                    assert task.cancelled()
                assert pool.stats.size <= 4
            for task in tasks:
                task.cancel()
            done, pending = await asyncio.wait(tasks, timeout=20)
            assert not pending and all(task.cancelled() for task in done)
            await until(lambda: pool.stats.in_use == 0)
            await until(lambda: left_open(other) == 0)
            # All of them can be had at once.
            connections = await asyncio.gather(*(pool.acquire() for _ in range(4)))
            assert [await one(connection) for connection in connections] == [1] * 4
            for connection in connections:
                await connection.close()

    run(work(), 120)
    assert -1 not in values(other, numbers)


def test_cancelling_the_one_that_opens_does_not_stop_it(database: str) -> None:
    async def work() -> None:
        async with opened(database) as pool:
            borrower = asyncio.create_task(pool.acquire())
            await asyncio.sleep(0)
            borrower.cancel()
            with pytest.raises(asyncio.CancelledError):
                await borrower
            await until(lambda: pool.stats.idle == 1)

    run(work())

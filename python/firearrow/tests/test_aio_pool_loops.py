"""Asynchronous pools and event loops: one after the other, two at a time, in a forked process, none."""

from __future__ import annotations

import asyncio
import gc
import os
from typing import Any

import pytest
from forking import in_child
from loops import attachment, borrow, one
from statements import ONE

import firearrow
from firearrow import aio
from firearrow.aio import Pool


def test_loops_one_after_the_other(database: str) -> None:
    pool = Pool(database, min_size=1, max_size=2)
    assert pool.stats.size == 0

    async def first() -> aio.PooledConnection:
        await pool.wait(20)
        await borrow(pool)
        return await pool.acquire()

    async def second() -> None:
        assert await one(held) == 1
        await held.close()
        await borrow(pool)
        await pool.close()

    held = asyncio.run(first())
    asyncio.run(second())
    assert pool.stats.size == 0


def test_a_loop_that_ends_in_the_middle(database: str) -> None:
    """What was being opened, checked and cleaned when a loop ended does not count for ever."""
    pool = Pool(database, max_size=2, check_after=0, acquire_timeout=20)
    left: list[asyncio.Task[Any]] = []

    async def begin() -> None:
        await borrow(pool)
        connection = await pool.acquire()
        await one(connection)
        left.append(asyncio.create_task(connection.close()))
        left.extend(asyncio.create_task(pool.acquire()) for _ in range(3))
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def end() -> None:
        connections = [await pool.acquire(), await pool.acquire()]
        assert [await one(connection) for connection in connections] == [1, 1]
        for connection in connections:
            await connection.close()
        await pool.close()

    async def give_back(served: list[aio.PooledConnection]) -> None:
        for connection in served:
            await connection.close()

    for is_closed_alone in (False, True):
        if is_closed_alone:
            loop = asyncio.new_event_loop()
            loop.run_until_complete(begin())
            loop.close()
        else:
            asyncio.run(begin())
        gc.collect()
        # On a busy machine, some got their connection in time.
        ended = [task for task in left if task.done() and not task.cancelled()]
        served = [task.result() for task in ended if task.result() is not None]
        left[:] = [task for task in left if task not in ended]
        if served:
            asyncio.run(give_back(served))
    asyncio.run(end())
    assert pool.stats.size == 0


def test_two_loops_at_a_time_are_refused(database: str) -> None:
    loop = asyncio.new_event_loop()
    pool = Pool(database)
    loop.run_until_complete(borrow(pool))
    with pytest.raises(firearrow.InterfaceError, match="a pool for each loop"):
        asyncio.run(borrow(pool))
    loop.run_until_complete(pool.close())
    loop.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork processes: it has no os.fork")
def test_a_forked_process_has_a_pool_of_its_own(database: str, is_wire: bool) -> None:
    if not is_wire:
        pytest.skip("fork does not copy the engine's threads")
    pool = Pool(database, max_size=2, acquire_timeout=20)

    async def begin() -> tuple[aio.PooledConnection, int]:
        await borrow(pool)
        connection = await pool.acquire()
        return connection, await attachment(connection)

    async def end() -> None:
        assert await attachment(borrowed) == first
        await borrowed.close()
        await borrow(pool)
        assert pool.stats.opened == 1
        await pool.close()

    async def use() -> None:
        with pytest.raises(firearrow.InterfaceError, match="belongs to the process that opened it"):
            await borrowed.execute(ONE)
        await borrowed.close()
        assert pool.stats.size == 0
        async with pool.connection() as connection:
            assert await attachment(connection) != first
        await pool.close()

    def child() -> str:
        asyncio.run(asyncio.wait_for(use(), 30))
        return "done"

    loop = asyncio.new_event_loop()
    borrowed, first = loop.run_until_complete(begin())
    assert in_child(child) == "done"
    # The parent is unaffected.
    loop.run_until_complete(end())
    loop.close()


def test_without_a_loop(database: str) -> None:
    pool = Pool(database)
    with pytest.raises(firearrow.InterfaceError, match=r"event loop of asyncio.*asyncio\.run"):
        pool.acquire().send(None)
    assert repr(pool) == "<firearrow.aio.Pool: 0 in use, 0 idle, at most 10>"

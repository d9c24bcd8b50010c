"""Coroutines in event loops of their own, and what they ask of connections and pools of ``firearrow.aio``."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from statements import ME, ONE

from firearrow import aio


def run(work: Coroutine[Any, Any, Any], seconds: float = 60) -> Any:
    """Run a coroutine in a loop of its own; nothing may hang, and no task may be left."""

    async def limited() -> Any:
        problems: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
        result = await asyncio.wait_for(work, seconds)
        await until(lambda: len(asyncio.all_tasks()) == 1)
        gc.collect()
        assert problems == []
        return result

    return asyncio.run(limited())


async def until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something that happens in the background."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        await asyncio.sleep(0.005)


async def one(connection: aio.Connection, sql: str = ONE) -> Any:
    """The first value that a query finds."""
    row = await (await connection.execute(sql)).fetchone()
    return row[0]


async def attachment(connection: aio.Connection) -> int:
    """The number of the connection on its server."""
    return int(await one(connection, ME))


@asynccontextmanager
async def opened(database: str, **options: Any) -> AsyncGenerator[aio.Pool]:
    """A pool that has nothing in use and nobody waiting in the end."""
    options = {"max_size": 3, "acquire_timeout": 20, **options}
    async with aio.Pool(database, **options) as pool:
        yield pool
        await until(lambda: not pool.stats.in_use)
        stats = pool.stats
        assert (stats.waiting, stats.size <= stats.max_size) == (0, True)
    assert pool.stats.size == 0


async def borrow(pool: aio.Pool) -> None:
    """Use a connection of the pool once."""
    async with pool.connection() as connection:
        assert await one(connection) == 1

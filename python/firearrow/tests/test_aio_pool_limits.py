"""How many connections an asynchronous pool opens, and how long it keeps them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loops import attachment, opened, run, until

import firearrow
from firearrow import PoolTimeout
from firearrow.aio import Pool


def test_the_minimum_is_opened_in_the_background(database: str) -> None:
    async def work() -> None:
        async with opened(database, min_size=3, max_size=5) as pool:
            await pool.wait(20)
            assert (pool.stats.idle, pool.stats.opened) == (3, 3)
            connections = [await pool.acquire() for _ in range(5)]
            assert len({await attachment(connection) for connection in connections}) == 5
            for connection in connections:
                await connection.close()
            assert pool.stats.idle == 5

    run(work())


def test_errors_that_do_not_pass_come_at_once(database: str, is_wire: bool) -> None:
    name = database.rpartition("/")[0] + "/nothing-here.fdb"

    async def work() -> None:
        async with opened(name) as pool:
            with pytest.raises(firearrow.DatabaseError) as caught:
                await asyncio.wait_for(pool.acquire(), 10)
            assert not isinstance(caught.value, PoolTimeout)
            assert pool.stats.failed_opens == 1
        if is_wire:
            async with opened(database, password="wrong") as pool:
                with pytest.raises(firearrow.OperationalError) as caught:
                    await pool.acquire()
                assert caught.value.kind == "Login"
        async with opened(name, min_size=1) as pool:
            with pytest.raises(PoolTimeout, match="nothing-here") as late:
                await pool.wait(0.5)
            assert isinstance(late.value.__cause__, firearrow.DatabaseError)

    run(work())


@pytest.mark.parametrize("options", [{"max_size": 0}, {"idle_timeout": float("nan")}, {"reset": "sometimes"}])
def test_impossible_options_are_refused(database: str, options: dict[str, Any]) -> None:
    with pytest.raises(firearrow.InterfaceError):
        Pool(database, **options)
    with pytest.raises(firearrow.InterfaceError, match="name a database"):
        Pool()


def test_idle_connections_are_closed_down_to_the_minimum(database: str) -> None:
    async def work() -> None:
        async with opened(database, min_size=1, max_size=3, idle_timeout=0.3) as pool:
            for connection in [await pool.acquire() for _ in range(3)]:
                await connection.close()
            assert pool.stats.idle == 3
            await until(lambda: pool.stats.size == 1)
            assert pool.stats.closed == 2
            await asyncio.sleep(0.5)
            assert pool.stats.size == 1

    run(work())


def test_old_connections_are_replaced(database: str) -> None:
    async def work() -> None:
        async with opened(database, min_size=1, max_size=1, max_lifetime=0.5) as pool:
            async with pool.connection() as connection:
                first = await attachment(connection)
                await asyncio.sleep(0.6)
            async with pool.connection(timeout=20) as connection:
                assert await attachment(connection) != first
            # An idle one, too.
            await until(lambda: pool.stats.opened >= 3)

    run(work())


def test_resizing(database: str) -> None:
    async def work() -> None:
        async with opened(database, max_size=1) as pool:
            held = [await pool.acquire()]
            with pytest.raises(PoolTimeout):
                await pool.acquire(timeout=0.1)
            pool.resize(max_size=3)
            held += [await pool.acquire(timeout=20), await pool.acquire(timeout=20)]
            pool.resize(max_size=1)
            for connection in held:
                await connection.close()
            await until(lambda: pool.stats.size == 1)
            pool.resize(min_size=2, max_size=2)
            await pool.wait(20)
            assert pool.stats.idle == 2
            with pytest.raises(firearrow.InterfaceError):
                pool.resize(max_size=0)

    run(work())

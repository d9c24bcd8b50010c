"""Asynchronous pools that lose connections, or their server."""

from __future__ import annotations

import asyncio
import time

import pytest
from loops import attachment, borrow, one, opened, run, until
from proxy import Proxy
from statements import ONE

import firearrow
from firearrow import PoolTimeout
from firearrow._pooling import Limits


def test_a_connection_that_was_shut_down_is_replaced(database: str, other: firearrow.Connection) -> None:
    async def work() -> None:
        async with opened(database) as pool:
            async with pool.connection() as connection:
                first = await attachment(connection)
            other.execute("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?", (first,))
            other.commit()
            pool._policy.limits = Limits(check_after=0)
            async with pool.connection() as connection:
                assert await attachment(connection) != first
            assert pool.stats.failed_checks == 1

    run(work())


def test_it_survives_a_restart_of_the_server(proxy: Proxy) -> None:
    async def work() -> None:
        async with opened(proxy.url, min_size=2, max_size=4, acquire_timeout=30) as pool:
            await pool.wait(20)
            with pytest.raises(firearrow.OperationalError):
                async with pool.connection() as connection:
                    await one(connection)
                    proxy.stop()
                    await one(connection)
            # While there is no server, callers wait ...
            with pytest.raises(PoolTimeout) as caught:
                await pool.acquire(timeout=0.5)
            assert isinstance(caught.value.__cause__, firearrow.OperationalError)
            asyncio.get_running_loop().call_later(1.0, proxy.start)
            # ... and go on when there is one.
            await asyncio.gather(*(borrow(pool) for _ in range(10)))
            await pool.wait(20)
            stats = pool.stats
            assert stats.in_use == 0 and stats.size <= 4 and stats.failed_opens > 0
            assert stats.failed_checks >= 1

    run(work())


def test_lost_connections_are_found_before_they_are_lent(proxy: Proxy) -> None:
    async def work() -> None:
        async with opened(proxy.url) as pool:
            for connection in [await pool.acquire() for _ in range(3)]:
                await connection.close()
            proxy.drop()
            # The news of it takes a moment.
            await until(lambda: not any(member.connection.is_alive for member in pool._policy.idle))
            for _ in range(5):
                await borrow(pool)
            assert pool.stats.failed_checks == 3

    run(work())


def test_a_silent_server_does_not_hold_up_anybody(proxy: Proxy) -> None:
    async def work() -> None:
        async with opened(proxy.url, max_size=1, check_after=0, connect_timeout=2) as pool:
            await borrow(pool)
            proxy.freeze()
            start = time.monotonic()
            with pytest.raises(PoolTimeout):
                await pool.acquire(timeout=1)
            assert time.monotonic() - start < 8
            proxy.thaw()
            proxy.drop()
            async with pool.connection(timeout=20) as connection:
                assert await one(connection) == 1
                await connection.execute(ONE)
                proxy.freeze()
                start = time.monotonic()
                await connection.close()
                assert time.monotonic() - start < 20
            proxy.thaw()

    run(work())

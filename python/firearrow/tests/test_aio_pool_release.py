"""Connections of an asynchronous pool: what a borrower gets, and what happens when it gives them back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from loops import attachment, one, opened, run
from statements import ONE, left_open, values

import firearrow
from firearrow import aio


def test_a_block_commits_and_a_failed_one_rolls_back(
    database: str, numbers: str, other: firearrow.Connection
) -> None:
    async def work() -> None:
        async with opened(database) as pool:
            async with pool.connection() as connection:
                await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
            with pytest.raises(ZeroDivisionError):
                async with pool.connection() as connection:
                    await connection.execute(f"INSERT INTO {numbers} VALUES (2)")
                    raise ZeroDivisionError
            assert left_open(other) == 0

    run(work())
    assert values(other, numbers) == [1]


def test_the_connection_used_last_is_lent_first(database: str) -> None:
    async def work() -> None:
        async with opened(database) as pool:
            async with pool.connection() as connection:
                first = await attachment(connection)
            for _ in range(5):
                async with pool.connection() as connection:
                    assert await attachment(connection) == first
            stats = pool.stats
            assert (stats.opened, stats.size, stats.idle, stats.in_use, stats.acquired) == (1, 1, 1, 0, 6)

    run(work())


def test_closing_a_connection_gives_it_back(database: str) -> None:
    async def work() -> None:
        async with opened(database) as pool:
            connection = await pool.acquire()
            assert (pool.stats.in_use, pool.stats.idle) == (1, 0)
            assert connection.pool is pool
            await connection.close()
            await connection.close()
            await pool.release(connection)
            assert (pool.stats.in_use, pool.stats.idle) == (0, 1)
            async with await pool.acquire() as connection:
                await attachment(connection)
            assert (pool.stats.in_use, pool.stats.idle, pool.stats.opened) == (0, 1, 1)

    run(work())


def test_what_was_given_back_is_refused(database: str) -> None:
    async def work() -> None:
        async with opened(database) as pool:
            connection = await pool.acquire()
            cursor = await connection.execute(ONE)
            unfinished = await connection.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")
            await unfinished.fetchone()
            transaction = connection.begin()
            reading = await transaction.execute(ONE)
            await pool.release(connection)
            assert connection.closed and not transaction.is_open
            uses: list[Callable[[], Any]] = [
                connection.cursor,
                lambda: connection.execute(ONE),
                connection.begin,
                connection.commit,
                connection.rollback,
                connection.ping,
                lambda: connection.info,
                cursor.fetchone,
                unfinished.fetchall,
                lambda: unfinished.execute(ONE),
                reading.fetchone,
                transaction.cursor,
                transaction.commit,
            ]
            for use in uses:
                with pytest.raises(firearrow.InterfaceError):
                    used = use()
                    await (used.execute(ONE) if isinstance(used, aio.Cursor) else used)
            async with pool.connection() as again:
                assert await attachment(again)
            assert pool.stats.opened == 1

    run(work())


def test_a_connection_of_another_pool_is_refused(database: str) -> None:
    async def work() -> None:
        async with opened(database) as pool, aio.connect(database) as connection:
            with pytest.raises(firearrow.InterfaceError, match="not from this pool"):
                await pool.release(connection)
            assert not connection.closed

    run(work())


def test_release_rolls_back_and_frees_locks(database: str, numbers: str, other: firearrow.Connection) -> None:
    async def work() -> None:
        async with opened(database) as pool:
            async with pool.connection() as connection:
                await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
            borrowed = await pool.acquire()
            await borrowed.execute(f"UPDATE {numbers} SET n = 2")
            beside = borrowed.begin()
            await beside.execute(f"INSERT INTO {numbers} VALUES (3)")
            await pool.release(borrowed)
            assert values(other, numbers) == [1]
            with other.begin(lock_timeout=0) as transaction:
                transaction.execute(f"UPDATE {numbers} SET n = 5")
            assert values(other, numbers) == [5]
            assert left_open(other) == 0

    run(work())


def test_settings_of_one_borrower_do_not_reach_the_next(
    database: str, numbers: str, other: firearrow.Connection
) -> None:
    async def work() -> None:
        async with opened(database, max_size=1) as pool:
            async with pool.connection() as connection:
                connection.autocommit = True
                connection.read_only = True
                connection.isolation = "read_committed"
                connection.row_factory = firearrow.dict_row
                with pytest.raises(firearrow.Error, match="read-only"):
                    await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
            async with pool.connection() as connection:
                assert not connection.autocommit and not connection.read_only
                assert connection.isolation is None
                assert await one(connection) == 1
                # Transactions of single statements, too.
                connection._autocommit = True
                await connection.execute(f"INSERT INTO {numbers} VALUES (2)")

    run(work())
    assert values(other, numbers) == [2]


def test_borrowing_costs_no_round_trip(database: str, is_wire: bool) -> None:
    async def work() -> None:
        async with opened(database, max_size=1) as pool, aio.connect(database) as held:

            async def cost(work: Callable[[], Coroutine[Any, Any, object]]) -> int:
                async with pool.connection() as connection:
                    core = connection._core
                before = core.wire_stats()["round_trips"]
                for _ in range(10):
                    await work()
                return core.wire_stats()["round_trips"] - before

            async def borrow() -> None:
                async with pool.connection() as connection:
                    assert await one(connection) == 1

            async def nothing() -> None:
                await (await pool.acquire()).close()

            for _ in range(3):
                await borrow()
                await one(held)
                await held.commit()
            before = held.wire_stats["round_trips"]
            for _ in range(10):
                assert await one(held) == 1
                await held.commit()
            alone = held.wire_stats["round_trips"] - before
            assert await cost(borrow) == alone
            assert (alone > 0) == is_wire
            assert await cost(nothing) == 0

    run(work())

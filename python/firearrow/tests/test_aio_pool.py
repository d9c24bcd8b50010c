"""Pools of ``firearrow.aio`` on real databases; what a pool decides is in test_pooling.py."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
import random
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from forking import in_child
from proxy import Proxy

import firearrow
from firearrow import PoolClosed, PoolTimeout, aio
from firearrow._pooling import Limits
from firearrow.aio import Pool

ONE = "SELECT 1 FROM RDB$DATABASE"
ME = "SELECT CURRENT_CONNECTION FROM RDB$DATABASE"
LONG = "SELECT COUNT(*) FROM RDB$TYPES a, RDB$TYPES b, RDB$TYPES c, RDB$TYPES d"


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


@pytest.fixture
def proxy(database: str, is_wire: bool) -> Iterator[Proxy]:
    if not is_wire:
        pytest.skip("there is no network between a program and its embedded engine")
    with Proxy(database) as proxy:
        yield proxy


@pytest.fixture
def numbers(connection: firearrow.Connection, table: str) -> str:
    """A table with a column N."""
    connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    connection.commit()
    return table


@asynccontextmanager
async def opened(database: str, **options: Any) -> AsyncGenerator[Pool]:
    """A pool that has nothing in use and nobody waiting in the end."""
    options = {"max_size": 3, "acquire_timeout": 20, **options}
    async with Pool(database, **options) as pool:
        yield pool
        await until(lambda: not pool.stats.in_use)
        stats = pool.stats
        assert (stats.waiting, stats.size <= stats.max_size) == (0, True)
    assert pool.stats.size == 0


def values(connection: firearrow.Connection, table: str) -> list[Any]:
    rows = connection.execute(f"SELECT n FROM {table} ORDER BY n").fetchall()
    connection.commit()
    return [value for (value,) in rows]


async def one(connection: aio.Connection, sql: str = ONE) -> Any:
    row = await (await connection.execute(sql)).fetchone()
    return row[0]


async def attachment(connection: aio.Connection) -> int:
    return int(await one(connection, ME))


def left_open(connection: firearrow.Connection) -> int:
    """How many transactions others have open."""
    (number,) = connection.execute(
        "SELECT COUNT(*) FROM MON$TRANSACTIONS t JOIN MON$ATTACHMENTS a USING (MON$ATTACHMENT_ID) "
        "WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION AND a.MON$SYSTEM_FLAG = 0 AND t.MON$STATE = 1"
    ).fetchone()
    connection.commit()
    return int(number)


# Borrowing and giving back.


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


# Cancelling.


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


# Sessions.

SET = "SELECT RDB$SET_CONTEXT('USER_SESSION', 'WHO', 'me') FROM RDB$DATABASE"
GET = "SELECT RDB$GET_CONTEXT('USER_SESSION', 'WHO') FROM RDB$DATABASE"


@pytest.mark.parametrize(("reset", "seen"), [("auto", None), ("always", None), ("never", "me")])
def test_a_changed_session_is_reset(database: str, version: int, reset: str, seen: str | None) -> None:
    async def work() -> None:
        async with opened(database, max_size=1, reset=reset) as pool:
            async with pool.connection() as connection:
                await one(connection, SET)
                first = await attachment(connection)
            async with pool.connection() as connection:
                assert await one(connection, GET) == seen
                is_same = await attachment(connection) == first
            # Firebird 3 cannot reset a session.
            assert is_same == (version >= 4 or reset == "never")
            assert (pool.stats.resets > 0) == (reset != "never")

    run(work())


@pytest.mark.parametrize("is_asynchronous", [True, False])
def test_configure_sees_each_session(database: str, version: int, is_asynchronous: bool) -> None:
    seen: list[int] = []

    async def configure(connection: aio.Connection) -> None:
        seen.append(await attachment(connection))
        await one(connection, "SELECT RDB$SET_CONTEXT('USER_SESSION', 'WHO', 'pool') FROM RDB$DATABASE")

    def note(connection: aio.Connection) -> None:
        connection.row_factory = firearrow.dict_row
        seen.append(0)

    async def work() -> None:
        if not is_asynchronous:
            async with opened(database, configure=note) as pool, pool.connection():
                assert seen == [0]
            return
        async with opened(database, max_size=1, configure=configure) as pool:
            for _ in range(2):
                async with pool.connection() as connection:
                    assert await one(connection, GET) == "pool"
            assert len(seen) == 1
            async with pool.connection() as connection:
                await one(connection, SET)
            async with pool.connection() as connection:
                assert await one(connection, GET) == "pool"
            assert len(seen) == 2
            assert len(set(seen)) == (1 if version >= 4 else 2)

    run(work())


def test_an_error_in_configure_reaches_the_borrower(database: str) -> None:
    async def configure(connection: aio.Connection) -> None:
        raise ZeroDivisionError("configure")

    async def work() -> None:
        async with opened(database, configure=configure) as pool:
            with pytest.raises(ZeroDivisionError):
                await asyncio.wait_for(pool.acquire(), 10)
            await until(lambda: pool.stats.size == 0)

    run(work())


# What it costs.


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


# Many tasks.


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


def test_variables_of_a_task_stay_there(database: str) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="none")
    seen: list[str] = []

    async def work() -> None:
        variable.set("the borrower's")
        async with opened(database, configure=lambda _: seen.append(variable.get())) as pool:
            await borrow(pool)

    run(work())
    assert seen == ["none"]


# Opening.


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


# Growing old.


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


# Loss.


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


async def borrow(pool: Pool) -> None:
    async with pool.connection() as connection:
        assert await one(connection) == 1


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


# Closing.


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


# Event loops.


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

    for is_closed_alone in (False, True):
        if is_closed_alone:
            loop = asyncio.new_event_loop()
            loop.run_until_complete(begin())
            loop.close()
        else:
            asyncio.run(begin())
        gc.collect()
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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
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


def test_a_program_may_end_without_closing_anything(
    database: str, is_wire: bool, tmp_path: pathlib.Path
) -> None:
    if not is_wire:
        # The engine of this process keeps others out of its databases.
        database = str(tmp_path / "own.fdb")
    program = (
        "import asyncio, sys\n"
        "from firearrow import aio\n"
        "pool = aio.Pool(sys.argv[1], min_size=2, create_if_missing=True)\n"
        "async def work():\n"
        "    await pool.wait(20)\n"
        "    connection = await pool.acquire()\n"
        "    cursor = await connection.execute('SELECT 7 FROM RDB$DATABASE')\n"
        "    print((await cursor.fetchone())[0])\n"
        "    return connection\n"
        "connection = asyncio.run(work())\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", program, database],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "7\n"), done.stderr
    assert "Traceback" not in done.stderr
    assert "<firearrow.aio.Pool: 1 in use, 1 idle, at most 10> was not closed" in done.stderr

"""``firearrow.aio`` in programs of anyio, on asyncio and uvloop, and what Trio's programs can do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio
from loops import one
from statements import LONG, left_open, values

import firearrow
from firearrow import aio

BACKENDS = {"asyncio": False, "uvloop": True}


@pytest.fixture(params=BACKENDS)
def run(request: pytest.FixtureRequest) -> Callable[[Callable[[], Awaitable[Any]]], Any]:
    """Runs a coroutine function by anyio; nothing may hang."""

    def runner(work: Callable[[], Awaitable[Any]]) -> Any:
        async def limited() -> Any:
            with anyio.fail_after(60):
                return await work()

        return anyio.run(limited, backend_options={"use_uvloop": BACKENDS[request.param]})

    return runner


Run = Callable[[Callable[[], Awaitable[Any]]], Any]


def test_task_groups(run: Run, database: str) -> None:
    async def work() -> None:
        answers: list[int] = []

        async def query(pool: aio.Pool, number: int) -> None:
            async with pool.connection() as connection:
                sql = "SELECT CAST(? AS INTEGER) FROM RDB$DATABASE"
                row = await (await connection.execute(sql, (number,))).fetchone()
                answers.append(row[0])

        async with aio.Pool(database, max_size=4) as pool:
            async with anyio.create_task_group() as group:
                for number in range(100):
                    group.start_soon(query, pool, number)
            assert sorted(answers) == list(range(100))
            assert (pool.stats.in_use, pool.stats.acquired) == (0, 100)

    run(work)


def test_time_limits(run: Run, database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            for _ in range(3):
                start = time.monotonic()
                with anyio.move_on_after(0.2) as scope:
                    await connection.execute(LONG)
                assert scope.cancelled_caught and time.monotonic() - start < 5
                assert await one(connection) == 1
            with pytest.raises(TimeoutError):
                with anyio.fail_after(0.2):
                    await connection.execute(LONG)
            assert await one(connection) == 1

    run(work)


def test_a_cancelled_scope_ends_what_was_begun(
    run: Run, database: str, numbers: str, other: firearrow.Connection
) -> None:
    """In a scope that is cancelled, every further ``await`` is, too: also those of blocks that end."""

    async def change(connection: aio.Connection) -> None:
        await connection.execute(f"INSERT INTO {numbers} VALUES (1)")
        async with connection.begin() as transaction, connection.savepoint():
            await transaction.execute(f"INSERT INTO {numbers} VALUES (2)")
            await anyio.sleep(20)

    async def with_pool(pool: aio.Pool) -> None:
        async with pool.connection() as connection:
            await change(connection)

    async def by_itself(pool: aio.Pool) -> None:
        async with aio.connect(database) as connection:
            await change(connection)

    async def work() -> None:
        async with aio.Pool(database, max_size=1) as pool:
            for body in (with_pool, with_pool, by_itself, with_pool):
                with anyio.move_on_after(0.3) as scope:
                    await body(pool)
                assert scope.cancelled_caught
                with anyio.fail_after(20):
                    while pool.stats.in_use or left_open(other):
                        await anyio.sleep(0.01)
            async with pool.connection() as connection:
                assert await one(connection) == 1
            # Rolled back, it is lent again.
            assert pool.stats.opened == 1

    run(work)
    assert values(other, numbers) == []


def test_waiting_tasks_of_a_cancelled_group(run: Run, database: str) -> None:
    async def work() -> None:
        async with aio.Pool(database, max_size=1) as pool:
            async with pool.connection() as connection:
                async with anyio.create_task_group() as group:
                    for _ in range(10):
                        group.start_soon(pool.acquire)
                    while pool.stats.waiting < 10:
                        await anyio.sleep(0.001)
                    group.cancel_scope.cancel()
                assert pool.stats.waiting == 0
                assert await one(connection) == 1
            assert (pool.stats.opened, pool.stats.idle) == (1, 1)

    run(work)


def test_retry(run: Run, database: str, numbers: str, other: firearrow.Connection) -> None:
    async def work() -> None:
        async def insert(connection: aio.Connection) -> None:
            await connection.execute(f"INSERT INTO {numbers} VALUES (1)")

        async with aio.Pool(database) as pool:
            await aio.retry(pool, insert)

    run(work)
    assert values(other, numbers) == [1]


def test_threads_of_anyio_and_the_blocking_package(run: Run, database: str) -> None:
    async def work() -> None:
        def query() -> Any:
            with firearrow.connect(database) as connection:
                return connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone()

        assert await anyio.to_thread.run_sync(query) == (1,)

    run(work)


# Trio.


def test_trio_is_refused_with_a_remedy(database: str) -> None:
    async def work() -> None:
        pool = aio.Pool(database)
        for use in (lambda: aio.connect(database), pool.acquire, pool.wait):
            with pytest.raises(firearrow.InterfaceError, match=r"anyio's backend 'asyncio'.*trio_asyncio"):
                await use()
        with pytest.raises(firearrow.InterfaceError, match="trio_asyncio"):
            async with aio.Pool(database):
                pass
        # The remedy without asyncio.
        connection = await trio.to_thread.run_sync(firearrow.connect, database)
        connection.close()

    anyio.run(work, backend="trio")


TRIO = """
import sys, time
import trio, trio_asyncio
from firearrow import aio

database, table, long = sys.argv[1:]

async def query():
    async with aio.Pool(database, max_size=2) as pool, pool.connection() as connection:
        await connection.execute(f"INSERT INTO {table} VALUES (1)")
        cursor = await connection.execute("SELECT 1 FROM RDB$DATABASE")
        return (await cursor.fetchone())[0]

async def never():
    async with aio.connect(database) as connection:
        await connection.execute(f"INSERT INTO {table} VALUES (2)")
        await connection.execute(long)

async def work():
    with trio.fail_after(60):
        async with trio_asyncio.open_loop():
            print(await trio_asyncio.aio_as_trio(query)())
            start = time.monotonic()
            with trio.move_on_after(0.5) as scope:
                await trio_asyncio.aio_as_trio(never)()
            print(scope.cancelled_caught, time.monotonic() - start < 10)
            print(await trio_asyncio.aio_as_trio(query)())

trio.run(work)
"""


def test_trio_asyncio(database: str, is_wire: bool, tmp_path: Path) -> None:
    """In a process of its own: trio_asyncio replaces asyncio's event loops in the whole process."""
    name = database if is_wire else str(tmp_path / "own.fdb")
    with firearrow.connect(name, create_if_missing=True) as connection:
        connection.execute("RECREATE TABLE trio_numbers (n INTEGER)")
    done = subprocess.run(
        [sys.executable, "-c", TRIO, name, "trio_numbers", LONG],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert (done.returncode, done.stdout.split()) == (0, ["1", "True", "True", "1"]), done.stderr
    with firearrow.connect(name) as connection:
        assert connection.execute("SELECT n FROM trio_numbers").fetchall() == [(1,), (1,)]

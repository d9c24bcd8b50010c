"""``aio.retry``: transactions of tasks that are run again."""

from __future__ import annotations

import asyncio
import inspect

import pytest
from loops import one, opened, run
from proxy import Proxy
from test_retry import account, conflict, error, value

import firearrow
from firearrow import aio

__all__ = ["account"]


def test_a_conflict_runs_the_whole_transaction_again(
    database: str, other: firearrow.Connection, account: str
) -> None:
    runs: list[int] = []

    async def work(connection: aio.Connection) -> str:
        n = await one(connection, f"SELECT n FROM {account} WHERE id = 1")
        runs.append(n)
        await connection.execute(f"INSERT INTO {account} VALUES (?, 0)", (10 + len(runs),))
        if len(runs) <= 2:
            conflict(other, account)
        await connection.execute(f"UPDATE {account} SET n = ? WHERE id = 1", (n + 1,))
        return "done"

    async def main() -> None:
        async with aio.connect(database, autocommit=True) as connection:
            assert await aio.retry(connection, work, attempts=5) == "done"
            assert connection.autocommit

    run(main())
    assert runs == [0, 100, 200]
    assert value(other, account) == 201
    assert other.execute(f"SELECT id FROM {account} ORDER BY id").fetchall() == [(1,), (13,)]


def test_attempts_end(database: str, other: firearrow.Connection, account: str) -> None:
    runs = 0

    async def work(connection: aio.Connection) -> None:
        nonlocal runs
        runs += 1
        await one(connection, f"SELECT n FROM {account}")
        conflict(other, account)
        await connection.execute(f"UPDATE {account} SET n = 0")

    async def main() -> None:
        async with aio.connect(database) as connection:
            with pytest.raises(firearrow.OperationalError) as caught:
                await aio.retry(connection, work, attempts=3, base=0)
            assert caught.value.retryable and caught.value.details["attempts"] == "3"
            with pytest.raises(firearrow.OperationalError):
                await aio.retry(connection, work, attempts=50, timeout=0)
            assert runs == 4
            # The connection is free for other work.
            assert await one(connection, f"SELECT n FROM {account}") == 400
            with pytest.raises(firearrow.ProgrammingError, match="commit it or roll it back"):
                await aio.retry(connection, work)
            with pytest.raises(TypeError, match="attempt"):
                aio.retry(connection, work, attempt=3)
            await connection.rollback()

    run(main())


def test_as_a_decorator(database: str, connection: firearrow.Connection, account: str) -> None:
    async def main() -> None:
        async with opened(database) as pool, aio.connect(database) as alone:

            @aio.retry(pool, attempts=3)
            async def add(connection: aio.Connection, number: int, *, twice: bool = False) -> int:
                """Add a number."""
                await connection.execute(f"UPDATE {account} SET n = n + ?", (number * (1 + twice),))
                return number

            assert await add(5) == 5 and await add(1, twice=True) == 1
            assert add.__doc__ == "Add a number." and inspect.iscoroutinefunction(add)

            @aio.retry
            async def double(connection: aio.Connection) -> None:
                await connection.execute(f"UPDATE {account} SET n = n * 2")

            await double(alone)
            await double(pool)
            with pytest.raises(firearrow.InterfaceError, match=r"not firearrow\.Connection"):
                await double(connection)  # type: ignore[arg-type]
            with pytest.raises(firearrow.InterfaceError, match="a connection or a pool"):
                aio.retry("firebird://localhost/x", double)  # type: ignore[call-overload]

    run(main())
    assert value(connection, account) == 28


def test_concurrent_work_loses_no_change(
    database: str, connection: firearrow.Connection, account: str
) -> None:
    async def main() -> None:
        async with opened(database, max_size=8, acquire_timeout=60) as pool:

            @aio.retry(pool, attempts=1000, timeout=60, base=0.002, cap=0.05, lock_timeout=5)
            async def add(connection: aio.Connection) -> None:
                n = await one(connection, f"SELECT n FROM {account} WHERE id = 1")
                await connection.execute(f"UPDATE {account} SET n = ? WHERE id = 1", (n + 1,))

            await asyncio.gather(*(add() for _ in range(80)))

    run(main())
    assert value(connection, account) == 80


def test_a_cancelled_task_rolls_back(database: str, other: firearrow.Connection, account: str) -> None:
    async def work(connection: aio.Connection) -> None:
        await connection.execute(f"UPDATE {account} SET n = 7")
        await asyncio.sleep(20)

    async def main() -> None:
        async with opened(database) as pool, aio.connect(database) as alone:
            for source in (pool, alone):
                task = asyncio.create_task(aio.retry(source, work))
                await asyncio.sleep(0.3)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert await one(alone, f"SELECT n FROM {account}") == 0

    run(main())
    conflict(other, account)
    assert value(other, account) == 100


def test_a_pool_replaces_a_lost_connection(
    database: str, is_wire: bool, connection: firearrow.Connection, account: str
) -> None:
    if not is_wire:
        pytest.skip("there is no network between a program and its embedded engine")
    runs = 0

    async def main() -> None:
        async def work(connection: aio.Connection) -> None:
            nonlocal runs
            runs += 1
            await connection.execute(f"UPDATE {account} SET n = n + 1")
            if runs == 1:
                proxy.drop()
            await connection.execute(f"UPDATE {account} SET n = n + 1")

        async with opened(proxy.url) as pool:
            await aio.retry(pool, work, attempts=10, cap=0.2)
        assert runs == 2

    with Proxy(database) as proxy:
        run(main())
    assert value(connection, account) == 2


@pytest.mark.parametrize(("outcome", "runs"), [("unknown", 1), ("committed", 1), ("rolled_back", 2)])
def test_a_lost_commit(database: str, monkeypatch: pytest.MonkeyPatch, outcome: str, runs: int) -> None:
    seen = 0

    async def work(connection: aio.Connection) -> str:
        nonlocal seen
        seen += 1
        await one(connection)
        return "result"

    commit = aio.PooledConnection.commit

    async def lose(connection: aio.PooledConnection) -> None:
        await commit(connection)
        if seen == 1:
            raise error("CommitUnknown" if outcome != "rolled_back" else "Closed", commit=outcome)

    async def main() -> None:
        async with opened(database) as pool:
            if outcome == "unknown":
                with pytest.raises(firearrow.OperationalError):
                    await aio.retry(pool, work)
            else:
                assert await aio.retry(pool, work) == "result"

    monkeypatch.setattr(aio.PooledConnection, "commit", lose)
    run(main())
    assert seen == runs

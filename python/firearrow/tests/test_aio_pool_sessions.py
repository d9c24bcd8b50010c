"""Sessions of an asynchronous pool's connections: when they are reset, and how they are configured."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest
from loops import attachment, borrow, one, opened, run, until
from statements import GET, SET

import firearrow
from firearrow import aio


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
        await one(connection, SET.replace("me", "pool"))

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


def test_variables_of_a_task_stay_there(database: str) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="none")
    seen: list[str] = []

    async def work() -> None:
        variable.set("the borrower's")
        async with opened(database, configure=lambda _: seen.append(variable.get())) as pool:
            await borrow(pool)

    run(work())
    assert seen == ["none"]

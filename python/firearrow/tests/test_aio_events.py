"""Events of ``firearrow.aio``."""

from __future__ import annotations

import asyncio
import random
import time

import pytest
from loops import one, run

import firearrow
from firearrow import aio


def post(connection: firearrow.Connection, name: str, times: int = 1) -> None:
    """Post an event, and commit."""
    posts = f"POST_EVENT '{name}';" * times
    connection.execute(f"EXECUTE BLOCK AS BEGIN {posts} END")
    connection.commit()


def test_events(database: str, connection: firearrow.Connection, table: str) -> None:
    first, second = f"{table}_a", f"{table}_b"

    async def work() -> None:
        async with aio.connect(database) as other:
            post(connection, first)
            async with other.events(first, second) as events:
                assert await events.wait(timeout=0.2) is None
                post(connection, first, 3)
                assert await events.wait(timeout=20) == {first: 3}
                # Waiting holds up nothing.
                waiting = asyncio.create_task(events.wait())
                await asyncio.sleep(0.05)
                assert await one(other) == 1
                assert not waiting.done()
                post(connection, second)
                assert await asyncio.wait_for(waiting, 20) == {second: 1}
            with pytest.raises(firearrow.InterfaceError):
                await events.wait(timeout=1)
            await events.close()

            # Without a block.
            events = await other.events(first)
            post(connection, first)
            assert await events.wait(timeout=20) == {first: 1}
            await events.close()
            with pytest.raises(firearrow.Error):
                await other.events("")
            with pytest.raises(firearrow.Error):
                await other.events()
            with pytest.raises(firearrow.ProgrammingError, match="invalid time limit"):
                async with other.events(first) as events:
                    await events.wait(timeout=-1)
            assert await one(other) == 1

    run(work())


def test_events_are_iterated(database: str, connection: firearrow.Connection, table: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as other:
            begun = asyncio.Event()

            async def poster() -> None:
                await begun.wait()
                for _ in range(3):
                    await asyncio.to_thread(post, connection, table)

            async def listen() -> int:
                async with other.events(table) as events:
                    begun.set()
                    count = 0
                    async for counts in events:
                        count += counts[table]
                        if count == 3:
                            break
                    return count

            counted, _ = await asyncio.wait_for(asyncio.gather(listen(), poster()), 30)
            assert counted == 3

            # In one line; what is left ends with the connection.
            async def keep_posting() -> None:
                while True:
                    await asyncio.to_thread(post, connection, table)
                    await asyncio.sleep(0.05)

            posting = asyncio.create_task(keep_posting())
            async for counts in other.events(table):
                assert counts[table] > 0
                break
            posting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await posting
            assert await one(other) == 1

    run(work())


def test_events_and_cancelled_tasks(database: str, connection: firearrow.Connection, table: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as other, other.events(table) as events:
            for number in range(10):
                task = asyncio.create_task(events.wait())
                await asyncio.sleep(number * 0.003)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert await one(other) == 1
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(events.wait(), 0.05)
            # Nothing that was posted is lost.
            post(connection, table, 2)
            assert await events.wait(timeout=20) == {table: 2}
            # Tasks that are cancelled while events come.
            chance, count = random.Random(6), 0
            posting = asyncio.get_running_loop().run_in_executor(
                None, lambda: [post(connection, table) for _ in range(100)]
            )
            while count < 100:
                task = asyncio.create_task(events.wait(timeout=20))
                await asyncio.sleep(chance.random() * 0.004)
                task.cancel()
                try:
                    counts = await task
                except asyncio.CancelledError:
                    continue
                assert counts is not None
                count += counts[table]
            await posting
            assert count == 100
            assert await events.wait(timeout=0.1) is None
            # Opening, too.
            for number in range(10):
                task = asyncio.ensure_future(other.events(table))
                await asyncio.sleep(number * 0.001)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    opened = await task
                    await opened.close()
                    raise asyncio.CancelledError
            assert await one(other) == 1

    run(work())


def test_closing_ends_events(database: str) -> None:
    async def work() -> None:
        other = await aio.connect(database)
        events = await other.events("a")
        waiting = asyncio.create_task(events.wait())
        await asyncio.sleep(0.05)
        await events.close()
        with pytest.raises(firearrow.OperationalError, match="listener is closed"):
            await asyncio.wait_for(waiting, 10)
        listeners = [await other.events("a", "b") for _ in range(3)]
        tasks = [asyncio.create_task(listener.wait()) for listener in listeners for _ in range(2)]
        await asyncio.sleep(0.05)
        begun = time.monotonic()
        await other.close()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(result, firearrow.Error)
        assert time.monotonic() - begun < 5
        for listener in listeners:
            with pytest.raises(firearrow.InterfaceError):
                await listener.wait(1)
            await listener.close()
        with pytest.raises(firearrow.InterfaceError):
            other.events("a")

    run(work())

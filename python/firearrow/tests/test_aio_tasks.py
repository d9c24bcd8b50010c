"""``firearrow.aio`` with many tasks, tasks that are cancelled, and event loops that end."""

from __future__ import annotations

import asyncio
import gc
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

import firearrow
from firearrow import aio

# Minutes, unless somebody interrupts it.
LONG = "SELECT COUNT(*) FROM rdb$types a, rdb$types b, rdb$types c, rdb$types d"


def run(work: Coroutine[Any, Any, Any], seconds: float = 60) -> Any:
    """Run a coroutine in a loop of its own; nothing may hang."""

    async def limited() -> Any:
        return await asyncio.wait_for(work, seconds)

    return asyncio.run(limited())


async def one(connection: aio.Connection) -> Any:
    """A short query."""
    return await (await connection.execute("SELECT 1 FROM rdb$database")).fetchone()


def test_200_queries_over_20_connections(database: str) -> None:
    async def work() -> None:
        connections = await asyncio.gather(*(aio.connect(database, autocommit=True) for _ in range(20)))

        async def query(number: int) -> Any:
            sql = "SELECT CAST(? AS INTEGER) FROM rdb$database"
            cursor = await connections[number % 20].execute(sql, (number,))
            return await cursor.fetchone()

        answers = await asyncio.gather(*(query(number) for number in range(200)))
        assert answers == [(number,) for number in range(200)]
        await asyncio.gather(*(connection.close() for connection in connections))

    run(work())


def test_the_loop_runs_while_the_server_works(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            query = asyncio.create_task(connection.execute(LONG))
            for _ in range(20):
                await asyncio.sleep(0.01)
            assert not query.done()
            connection.cancel()
            cursor = await query
            with pytest.raises(firearrow.OperationalError) as raised:
                await cursor.fetchone()
            assert raised.value.kind == "Cancelled"
            assert await one(connection) == (1,)

    run(work())


def test_a_cancelled_query_interrupts_the_server(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            for _ in range(3):
                query = asyncio.create_task(connection.execute(LONG))
                await asyncio.sleep(0.1)
                query.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await query
                begun = time.monotonic()
                assert await one(connection) == (1,)
                assert time.monotonic() - begun < 5
                assert connection.is_alive

    run(work())


def test_a_cancelled_query_leaves_the_transaction(database: str, table: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            await connection.execute(f"CREATE TABLE {table} (id INTEGER)")
            await connection.commit()
            await connection.execute(f"INSERT INTO {table} VALUES (1)")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connection.execute(LONG), 0.1)
            await connection.execute(f"INSERT INTO {table} VALUES (2)")
            await connection.commit()
            cursor = await connection.execute(f"SELECT id FROM {table} ORDER BY id")
            assert await cursor.fetchall() == [(1,), (2,)]

    run(work())


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout is of Python 3.11")
def test_timeouts(database: str, version: int) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            begun = time.monotonic()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await connection.execute(LONG)
            assert 0.15 < time.monotonic() - begun < 2
            assert await one(connection) == (1,)
            with pytest.raises(firearrow.OperationalError) as raised:
                await (await connection.execute(LONG, timeout=0.2)).fetchone()
            assert raised.value.kind == "Timeout"
            assert await one(connection) == (1,)

    run(work())


def test_a_cancelled_wait_for_a_lock(database: str, table: str) -> None:
    async def work() -> None:
        first, second = await aio.connect(database), await aio.connect(database)
        await first.execute(f"CREATE TABLE {table} (id INTEGER)")
        await first.commit()
        await first.execute(f"INSERT INTO {table} VALUES (1)")
        await first.commit()
        await first.execute(f"UPDATE {table} SET id = 2")
        waiting = asyncio.create_task(second.execute(f"UPDATE {table} SET id = 3"))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        # The server may not have listened: then the connection was closed, and says so.
        try:
            assert await asyncio.wait_for(one(second), 20) == (1,)
        except firearrow.OperationalError:
            assert not second.is_alive
        await second.close()
        await first.commit()
        assert await (await first.execute(f"SELECT id FROM {table}")).fetchall() == [(2,)]
        await first.close()

    run(work())


def test_queued_calls_can_be_cancelled(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            running = asyncio.create_task(connection.execute(LONG))
            await asyncio.sleep(0.05)
            queued = [asyncio.create_task(connection.begin().execute(LONG)) for _ in range(5)]
            await asyncio.sleep(0.05)
            for task in queued:
                task.cancel()
            done = await asyncio.gather(*queued, return_exceptions=True)
            assert all(isinstance(error, asyncio.CancelledError) for error in done)
            assert not running.done()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert await one(connection) == (1,)

    run(work())


@pytest.mark.parametrize("seed", range(4))
def test_cancelled_wherever_it_waits(database: str, table: str, seed: int) -> None:
    """A task is cancelled after a random time; afterwards the connection works, or is known to be closed."""
    chance = random.Random(seed)

    async def session(connection: aio.Connection) -> None:
        cursor = connection.cursor()
        while True:
            await cursor.execute(f"INSERT INTO {table} VALUES (?)", (1,))
            await cursor.executemany(f"INSERT INTO {table} VALUES (?)", [(2,), (3,)])
            async with connection.savepoint():
                await cursor.execute(f"UPDATE {table} SET id = id + 1")
            await cursor.execute("SELECT a.* FROM rdb$fields a, rdb$fields b ROWS 3000")
            await cursor.fetchone()
            await cursor.fetchmany(1000)
            async with connection.begin(lock_timeout=0) as transaction:
                await (await transaction.execute(f"SELECT COUNT(*) FROM {table}")).fetchone()
            await cursor.execute(f"SELECT id FROM {table}")
            await cursor.fetchall()
            await connection.commit()
            await connection.info
            await cursor.close()
            cursor = connection.cursor()

    async def work() -> None:
        connection = await aio.connect(database)
        await connection.execute(f"RECREATE TABLE {table} (id INTEGER)")
        await connection.commit()
        closed = 0
        for _ in range(50):
            task = asyncio.create_task(session(connection))
            await asyncio.sleep(chance.random() ** 3 * 0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            try:
                assert await one(connection) == (1,)
                await connection.rollback()
            except firearrow.Error:
                assert not connection.is_alive
                closed += 1
                await connection.close()
                connection = await aio.connect(database)
        # The server listens nearly always.
        assert closed <= 5
        cursor = await connection.execute(f"SELECT COUNT(*) FROM {table}")
        assert (await cursor.fetchone())[0] >= 0
        await connection.close()

    run(work(), 120)


def test_cancelled_connects(database: str) -> None:
    async def work() -> None:
        for number in range(20):
            task = asyncio.create_task(aio.connect(database))
            await asyncio.sleep(number * 0.001)
            task.cancel()
            try:
                connection = await task
            except asyncio.CancelledError:
                continue
            await connection.close()
        async with aio.connect(database) as connection:
            assert await one(connection) == (1,)

    run(work())


def test_closing_ends_what_runs(database: str) -> None:
    async def work() -> None:
        connection = await aio.connect(database)
        query = asyncio.create_task(connection.execute(LONG))
        waiting = asyncio.create_task(connection.begin().execute(LONG))
        await asyncio.sleep(0.1)
        begun = time.monotonic()
        await connection.close()
        assert time.monotonic() - begun < 5
        for result in await asyncio.gather(query, waiting, return_exceptions=True):
            if isinstance(result, aio.Cursor):
                with pytest.raises(firearrow.Error):
                    await result.fetchone()
            else:
                assert isinstance(result, firearrow.Error)

    run(work())


def test_one_cursor_in_two_tasks(database: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            cursor = await connection.execute("SELECT a.rdb$type FROM rdb$types a, rdb$types b ROWS 30000")

            async def read() -> int:
                count = 0
                while await cursor.fetchone() is not None:
                    count += 1
                return count

            assert sum(await asyncio.gather(read(), read(), read())) == 30000

    run(work())


def test_two_loops_one_after_the_other(database: str) -> None:
    kept: list[aio.Connection] = []

    async def first() -> None:
        connection = await aio.connect(database)
        assert await one(connection) == (1,)
        kept.append(connection)

    async def second() -> None:
        # A connection belongs to no loop.
        assert await one(kept[0]) == (1,)
        await kept[0].close()

    run(first())
    run(second())
    run(first())
    run(kept.pop().close())


def test_a_loop_that_is_closed_with_an_open_connection(database: str) -> None:
    loop = asyncio.new_event_loop()
    connection = loop.run_until_complete(aio.connect(database))
    query = loop.create_task(connection.execute(LONG))
    loop.run_until_complete(asyncio.sleep(0.1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loop.close()
        del query, loop
        gc.collect()
    with pytest.warns(ResourceWarning, match="was not closed"):
        del connection
        gc.collect()

    async def work() -> None:
        async with aio.connect(database) as connection:
            assert await one(connection) == (1,)

    run(work())


def test_what_is_left_open_is_ended(database: str, connection: firearrow.Connection, table: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as other:
            await other.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY)")
            await other.commit()
            transaction = other.begin()
            await transaction.execute(f"INSERT INTO {table} VALUES (1)")
            del transaction
            gc.collect()
            # The lock goes with the transaction.
            async with other.begin(lock_timeout=5) as transaction:
                await transaction.execute(f"INSERT INTO {table} VALUES (1)")
            with pytest.warns(ResourceWarning):
                left = await aio.connect(database)
                await left.execute(f"INSERT INTO {table} VALUES (2)")
                del left
                gc.collect()

    run(work())
    deadline = time.monotonic() + 10
    while (
        connection.execute("SELECT COUNT(*) FROM mon$attachments WHERE mon$system_flag = 0").fetchone()[0] > 1
    ):
        assert time.monotonic() < deadline
        connection.commit()
        time.sleep(0.05)
    assert connection.execute(f"SELECT id FROM {table}").fetchall() == [(1,)]


PROGRAMS = {
    "open": "connection = asyncio.run(open_one())",
    "running": """
async def work():
    connection = await open_one()
    query = asyncio.create_task(connection.execute(LONG))
    await asyncio.sleep(0.1)
    os.write(1, b'end ')
    sys.exit(3)
asyncio.run(work())
""",
    "global": """
loop = asyncio.new_event_loop()
connection = loop.run_until_complete(open_one())
cursor = loop.run_until_complete(connection.execute("SELECT * FROM rdb$types"))
query = loop.create_task(connection.begin().execute(LONG))
loop.run_until_complete(asyncio.sleep(0.1))
""",
    "parts": """
import pyarrow
def slow():
    for number in range(1000):
        time.sleep(0.01)
        yield pyarrow.record_batch({"ID": [number]})
async def work():
    connection = await open_one()
    writer = await connection.create_blob()
    await writer.write(b'a' * 100000)
    events = await connection.events("a")
    waiting = asyncio.create_task(events.wait())
    cursor = await connection.execute("SELECT * FROM rdb$fields a, rdb$types b")
    stream = cursor.stream_json()
    await anext(stream)
    other = await open_one()
    await other.commit()
    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"ID": pyarrow.int64()}), slow())
    ingesting = asyncio.create_task(other.cursor().ingest(reader, "ENDED", mode="replace"))
    await asyncio.sleep(0.3)
    assert not waiting.done() and not ingesting.done()
    return connection, writer, events, cursor, stream, other, waiting, ingesting
loop = asyncio.new_event_loop()
kept = loop.run_until_complete(work())
""",
    "fork": """
connection = asyncio.run(open_one())
child = os.fork()
if not child:
    try:
        asyncio.run(connection.ping())
    except firearrow.InterfaceError as error:
        assert "fork" in str(error), error
    else:
        os._exit(9)
    del connection
    other = asyncio.run(open_one())
    asyncio.run(other.close())
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
asyncio.run(connection.ping())
asyncio.run(connection.close())
""",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_interpreter_ends(database: str, is_wire: bool, program: str, tmp_path: Path) -> None:
    if program == "fork" and not is_wire:
        pytest.skip("an engine in this process does not survive a fork")
    # Two processes cannot open a file with engines of their own.
    name = database if is_wire else str(tmp_path / "own.fdb")
    text = f"""
import asyncio, os, sys, time, warnings
import firearrow
from firearrow import aio
warnings.simplefilter("ignore")
LONG = {LONG!r}
async def open_one():
    connection = await aio.connect({name!r}, create_if_missing=True)
    cursor = await connection.execute("SELECT 1 FROM rdb$database")
    assert await cursor.fetchone() == (1,)
    return connection
{PROGRAMS[program]}
"""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.returncode == (3 if program == "running" else 0), done.stderr
    assert "Fatal" not in done.stderr and "panicked" not in done.stderr
    assert time.monotonic() - begun < 20


def test_uvloop(database: str) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def work() -> None:
        async with aio.connect(database) as connection:
            cursor = await connection.execute("SELECT a.* FROM rdb$types a, rdb$fields b ROWS 20000")
            assert len(await cursor.fetchall()) == 20000
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(connection.execute(LONG), 0.1)
            assert await one(connection) == (1,)

    for _ in range(3):
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(asyncio.wait_for(work(), 30))

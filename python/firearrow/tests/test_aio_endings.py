"""Event loops and interpreters that end, with connections closed or left open."""

from __future__ import annotations

import asyncio
import gc
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from loops import one, run
from programs import script
from statements import LONG, ONE

import firearrow
from firearrow import aio


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


def test_two_loops_one_after_the_other(database: str) -> None:
    kept: list[aio.Connection] = []

    async def first() -> None:
        connection = await aio.connect(database)
        assert await one(connection) == 1
        kept.append(connection)

    async def second() -> None:
        # A connection belongs to no loop.
        assert await one(kept[0]) == 1
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
            assert await one(connection) == 1

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


# Rows from Python code, for ten seconds.
SLOW = """
import pyarrow
def slow():
    for number in range(1000):
        time.sleep(0.01)
        yield pyarrow.record_batch({"ID": [number]})
"""

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
    "parts": SLOW
    + """
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
    # While the interpreter ends, which takes a while here, no thread of ours may ask for the next batch.
    "producer": SLOW
    + """
class Late:
    def __del__(self, sleep=time.sleep):
        sleep(0.5)
late = Late()
async def work():
    connection = await open_one()
    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema({"ID": pyarrow.int64()}), slow())
    ingesting = asyncio.create_task(connection.cursor().ingest(reader, "PRODUCED", mode="replace"))
    await asyncio.sleep(0.3)
    assert not ingesting.done()
    return connection, ingesting
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
    connection = await aio.connect(sys.argv[1], create_if_missing=True)
    cursor = await connection.execute("SELECT 1 FROM rdb$database")
    assert await cursor.fetchone() == (1,)
    return connection
{PROGRAMS[program]}
"""
    begun = time.monotonic()
    done = script(name, text)
    assert done.returncode == (3 if program == "running" else 0), done.stderr
    assert "Fatal" not in done.stderr and "panicked" not in done.stderr
    assert time.monotonic() - begun < 20


QUERY = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b"


def test_a_loop_that_has_stopped_keeps_nobody_from_its_connection(database: str) -> None:
    async def begin() -> tuple[aio.Connection, asyncio.Task[aio.Cursor]]:
        connection = await aio.connect(database, autocommit=True)
        task = asyncio.create_task(connection.cursor().execute(QUERY))
        await asyncio.sleep(0)
        return connection, task

    async def use(connection: aio.Connection) -> None:
        assert await one(connection, ONE) == 1
        await connection.close()

    stopped = asyncio.new_event_loop()
    connection, task = stopped.run_until_complete(begin())
    asyncio.run(asyncio.wait_for(use(connection), 20))
    stopped.run_until_complete(task)
    stopped.close()


def test_a_loop_that_does_something_else_keeps_nobody_from_its_connection(database: str) -> None:
    async def work() -> None:
        async with await aio.connect(database, autocommit=True) as connection:
            task = asyncio.create_task(connection.cursor().execute(QUERY))
            await asyncio.sleep(0)

            async def use() -> int:
                return await asyncio.wait_for(one(connection, ONE), 20)

            with ThreadPoolExecutor() as pool:
                # Waits in the thread of the loop.
                assert pool.submit(lambda: asyncio.run(use())).result() == 1
            await task

    run(work())

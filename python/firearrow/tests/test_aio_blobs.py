"""BLOBs of ``firearrow.aio`` as files."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from loops import one, run
from statements import LONG

import firearrow
from firearrow import aio


def pattern(length: int) -> bytes:
    """Bytes that differ from place to place."""
    return random.Random(length).randbytes(length)


@pytest.mark.parametrize("length", [0, 1, 65_535, 65_536, 300_001])
def test_blobs(database: str, connection: firearrow.Connection, table: str, length: int) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER, data BLOB)")
    connection.commit()
    data = pattern(length)

    async def work() -> None:
        async with aio.connect(database) as other:
            async with other.begin() as transaction:
                async with transaction.create_blob() as blob:
                    assert (blob.readable(), blob.writable(), blob.seekable()) == (False, True, False)
                    for start in range(0, length, 50_000):
                        piece = data[start : start + 50_000]
                        assert await blob.write(memoryview(piece)) == len(piece)
                    with pytest.raises(firearrow.InterfaceError, match="finish"):
                        _ = blob.id
                assert blob.closed
                await transaction.execute(f"INSERT INTO {table} VALUES (1, ?)", (blob.id,))
                with pytest.raises(firearrow.InterfaceError):
                    await blob.write(b"more")
            cursor = await other.execute(f"SELECT data FROM {table}", read={"blobs": "lazy"})
            (number,) = await cursor.fetchone()
            async with other.open_blob(number) as blob:
                assert blob.length == length
                assert (blob.readable(), blob.writable()) == (True, False)
                assert await blob.read() == data
                assert await blob.read() == b""
                assert await blob.read(10) == b""
            with pytest.raises(firearrow.InterfaceError):
                await blob.read()
            await blob.close()
            blob = await other.open_blob(number)
            pieces = []
            while piece := await blob.read(1_000):
                pieces.append(piece)
            assert all(len(piece) == 1_000 for piece in pieces[:-1])
            assert b"".join(pieces) == data
            await blob.close()
            blob = await other.open_blob(number)
            buffer = bytearray(100)
            assert await blob.readinto(buffer) == min(100, length)
            assert bytes(buffer[: min(100, length)]) == data[:100]
            assert await blob.read(0) == b""
            assert await blob.readall() == data[100:]
            await blob.close()

    run(work())
    assert connection.execute(f"SELECT data FROM {table}").fetchall() == [(data,)]


def stored(connection: firearrow.Connection, table: str, data: bytes) -> int:
    """Store a BLOB, and return its id."""
    connection.execute(f"CREATE TABLE {table} (data BLOB)")
    connection.commit()
    with connection.create_blob() as blob:
        blob.write(data)
    connection.execute(f"INSERT INTO {table} VALUES (?)", (blob.id,))
    connection.commit()
    [(number,)] = connection.execute(f"SELECT data FROM {table}", read={"blobs": "lazy"}).fetchall()
    connection.commit()
    return int(number)


def test_blobs_are_positioned_as_the_blocking_ones(
    database: str, connection: firearrow.Connection, table: str
) -> None:
    data = pattern(200_000)
    number = stored(connection, table, data)
    chance = random.Random(5)
    steps: list[tuple[str, Any, Any]] = [("seek", 0, 0)]
    for _ in range(150):
        whence = chance.choice([0, 0, 1, 2])
        offset = chance.randrange(0, 210_000) if whence == 0 else chance.randrange(-3_000, 3_000)
        if chance.random() < 0.5:
            steps.append(("seek", offset, whence))
        else:
            steps.append(("read", chance.choice([0, 1, 100, 5_000, 70_000]), None))

    async def work() -> None:
        blocking = connection.open_blob(number)
        async with aio.connect(database) as other, other.open_blob(number) as blob:
            assert blob.seekable() == blocking.seekable()
            compared = 0
            for name, value, whence in steps:
                if name == "read":
                    assert await blob.read(value) == blocking.read(value)
                    compared += 1
                    continue
                try:
                    expected = blocking.seek(value, whence)
                except firearrow.Error as error:
                    with pytest.raises(type(error)):
                        await blob.seek(value, whence)
                    continue
                assert await blob.seek(value, whence) == expected
                assert await blob.tell() == blocking.tell()
            assert compared > 50
            with pytest.raises(firearrow.DataError):
                await blob.seek(-1)
            with pytest.raises(firearrow.ProgrammingError):
                await blob.seek(0, 3)
            await blob.seek(-10, 2)
            assert await blob.read() == data[-10:]
        blocking.close()

    run(work())


def test_a_blob_that_was_written_in_segments(
    database: str, connection: firearrow.Connection, table: str
) -> None:
    connection.execute(f"CREATE TABLE {table} (data BLOB SUB_TYPE TEXT)")
    connection.commit()
    # Literals become segmented BLOBs.
    connection.execute(f"INSERT INTO {table} VALUES ('žluť' || 'oučký')")
    connection.commit()

    async def work() -> None:
        async with aio.connect(database) as other:
            cursor = await other.execute(f"SELECT data FROM {table}", read={"blobs": "lazy"})
            (number,) = await cursor.fetchone()
            async with other.open_blob(number) as blob:
                assert not blob.seekable()
                assert (await blob.read()).decode() == "žluťoučký"
                with pytest.raises(firearrow.NotSupportedError):
                    await blob.seek(0)

    run(work())


def test_blobs_that_do_not_work(database: str, connection: firearrow.Connection, table: str) -> None:
    number = stored(connection, table, pattern(100_000))

    async def work() -> None:
        async with aio.connect(database, autocommit=True) as other:
            with pytest.raises(firearrow.ProgrammingError, match="begin"):
                other.open_blob(number)
            with pytest.raises(firearrow.ProgrammingError, match="begin"):
                other.create_blob()
            transaction = other.begin()
            with pytest.raises(firearrow.DatabaseError):
                # Known at once in-process, with the first byte over the wire.
                async with transaction.open_blob(12345) as blob:
                    await blob.read()
            reader = await transaction.open_blob(number)
            assert len(await reader.read(10)) == 10
            writer = await transaction.create_blob()
            await writer.write(b"a")
            with pytest.raises(TypeError):
                await writer.write("text")  # type: ignore[arg-type]
            await transaction.rollback()
            # They end with their transaction.
            with pytest.raises(firearrow.Error):
                await writer.write(b"b" * 200_000)
                await writer.finish()
            with pytest.raises(firearrow.Error):
                await reader.read()
            with pytest.raises(firearrow.InterfaceError):
                await transaction.open_blob(number)
            await reader.close()
            await writer.close()
            # An error that leaves the block discards what was written.
            transaction = other.begin()
            with pytest.raises(ZeroDivisionError):
                async with transaction.create_blob() as writer:
                    await writer.write(b"a")
                    raise ZeroDivisionError
            with pytest.raises(firearrow.InterfaceError):
                _ = writer.id
            with pytest.raises(firearrow.InterfaceError):
                await writer.finish()
            async with transaction.create_blob() as writer:
                await writer.write(b"whole")
                assert await writer.finish() == writer.id == await writer.finish()
            await transaction.execute(f"INSERT INTO {table} VALUES (?)", (writer.id,))
            await transaction.commit()
            assert await one(other) == 1
        # Open ones end with the connection.
        other = await aio.connect(database)
        reader, writer = await other.open_blob(number), await other.create_blob()
        await reader.read(1)
        await writer.write(b"a")
        await other.close()
        with pytest.raises(firearrow.InterfaceError):
            await reader.read(1)
        with pytest.raises(firearrow.InterfaceError):
            await writer.write(b"a")
        with pytest.raises(firearrow.InterfaceError):
            await writer.finish()
        await reader.close()
        await writer.close()

    run(work())
    assert (b"whole",) in connection.execute(f"SELECT data FROM {table}").fetchall()


def test_cancelled_reads_lose_no_bytes(database: str, connection: firearrow.Connection, table: str) -> None:
    data = pattern(3_000_000)
    number = stored(connection, table, data)
    chance = random.Random(1)

    async def work() -> None:
        async with aio.connect(database) as other, other.open_blob(number) as blob:
            read = bytearray()
            cancelled = 0
            for _ in range(10_000):
                task = asyncio.create_task(blob.read(chance.choice([100, 60_000, 200_000])))
                if chance.random() < 0.5:
                    # Mostly before it has its bytes, sometimes when they have come.
                    for _ in range(chance.randrange(1, 4)):
                        await asyncio.sleep(0)
                    if chance.random() < 0.2:
                        await asyncio.sleep(0.002)
                    task.cancel()
                try:
                    piece = await task
                except asyncio.CancelledError:
                    cancelled += 1
                    continue
                read += piece
                if not piece:
                    break
            assert cancelled > 0
            assert bytes(read) == data
            assert await one(other) == 1

    run(work())


def test_cancelled_writes(database: str, connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (data BLOB)")
    connection.commit()
    chance = random.Random(2)

    async def work() -> None:
        other = await aio.connect(database)
        refused = written = closed = 0
        for number in range(30):
            data = pattern(500_000 + number)
            try:
                blob = await other.create_blob()
                task = asyncio.create_task(blob.write(data))
                await asyncio.sleep(chance.random() ** 3 * 0.005)
                task.cancel()
                try:
                    await task
                except asyncio.CancelledError:
                    with pytest.raises(firearrow.InterfaceError, match="create another"):
                        await blob.write(b"more")
                    with pytest.raises(firearrow.InterfaceError, match="create another"):
                        await blob.finish()
                    refused += 1
                else:
                    await other.execute(f"INSERT INTO {table} VALUES (?)", (await blob.finish(),))
                    written += 1
                await blob.close()
                assert await one(other) == 1
            except firearrow.Error:
                # The server did not listen: the connection was closed, and says so.
                assert not other.is_alive
                closed += 1
                await other.close()
                other = await aio.connect(database)
                written = 0
        assert refused > 0
        assert closed <= 3
        await other.commit()
        count = await (await other.execute(f"SELECT COUNT(*) FROM {table}")).fetchone()
        assert count == (written,)
        await other.close()

    run(work())
    for (data,) in connection.execute(f"SELECT data FROM {table}").fetchall():
        assert data == pattern(len(data))


def test_a_blob_waits_for_its_turn(database: str, connection: firearrow.Connection, table: str) -> None:
    data = pattern(100_000)
    number = stored(connection, table, data)

    async def work() -> None:
        async with aio.connect(database) as other:
            blob = await other.open_blob(number)
            running = asyncio.create_task(other.execute(LONG))
            await asyncio.sleep(0.1)
            reading = asyncio.create_task(blob.read())
            await asyncio.sleep(0.1)
            closing = asyncio.create_task(blob.close())
            await asyncio.sleep(0.1)
            assert not reading.done() and not running.done()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            with pytest.raises(firearrow.InterfaceError):
                await reading
            await closing
            assert await one(other) == 1
            async with other.open_blob(number) as blob:
                # Two tasks share it.
                first, second = await asyncio.gather(blob.read(50_000), blob.read(50_000))
                assert sorted([first, second]) == sorted([data[:50_000], data[50_000:]])

    run(work())

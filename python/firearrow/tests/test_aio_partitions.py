"""Queries in parts, which tasks read from one snapshot."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pyarrow as pa
import pytest
from loops import opened, run

import firearrow
from firearrow import aio

ROWS = 60_000


@pytest.fixture
def large(connection: firearrow.Connection, table: str) -> str:
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER NOT NULL, text VARCHAR(100) NOT NULL, price NUMERIC(9,2))"
    )
    connection.commit()
    rows = pa.table(
        {
            "ID": pa.array(range(ROWS), pa.int32()),
            "TEXT": [f"{n:090}" for n in range(ROWS)],
            "PRICE": pa.array([Decimal(n % 100) / 4 for n in range(ROWS)], pa.decimal128(9, 2)),
        }
    )
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    connection.commit()
    return table


def test_parts_in_tasks(
    database: str, connection: firearrow.Connection, other: firearrow.Connection, large: str, version: int
) -> None:
    """All parts together are the result, in the order of the table, as of the moment of the division."""

    async def read(descriptor: bytes) -> pa.Table:
        async with aio.read_partition(descriptor, database) as part:
            return await part.fetch_arrow_table()

    async def work() -> pa.Table:
        async with aio.connect(database) as leader:
            query = f"SELECT id, text, price FROM {large}"
            async with leader.read_partitions(query, 3) as parts:
                assert len(parts) == (1 if version < 4 else 3)
                assert bool(parts.why_plain) == (version < 4)
                if version >= 4:
                    # Before, the part has no snapshot to share.
                    other.execute(f"DELETE FROM {large} WHERE MOD(id, 2) = 0")
                    other.commit()
                tables = await asyncio.gather(*map(read, parts))
            assert parts.closed
            return pa.concat_tables(tables)

    whole = run(work())
    assert whole["ID"].to_pylist() == list(range(ROWS))
    assert whole["TEXT"][-1].as_py() == f"{ROWS - 1:090}"
    assert whole["PRICE"].to_pylist()[5] == Decimal("1.25")
    with connection.read_partitions(f"SELECT id FROM {large}", 2) as parts:
        # Descriptors of one package are read by the other.
        tables = run(gather(database, parts.descriptors))
    assert sum(table.num_rows for table in tables) == (ROWS if version < 4 else ROWS // 2)


async def gather(database: str, descriptors: list[bytes]) -> list[pa.Table]:
    async def read(descriptor: bytes) -> pa.Table:
        async with aio.connect(database) as connection:
            part = await connection.read_partition(descriptor)
            return await part.fetch_arrow_table()

    return list(await asyncio.gather(*map(read, descriptors)))


def test_parts_of_one_connection(database: str, large: str) -> None:
    """It can read them itself, with parameters, in every form."""
    query = f"SELECT id FROM {large} WHERE id >= :least AND price >= 0"

    async def work() -> None:
        async with aio.connect(database) as connection:
            parts = await connection.read_partitions(query, 2, parameters={"least": 100})
            found: list[int] = []
            for descriptor in parts:
                async with connection.read_partition(descriptor) as part:
                    found += (await part.fetch_polars())["ID"].to_list()
                with pytest.raises(firearrow.InterfaceError, match="part is closed"):
                    await part.fetch_arrow_table()
            assert found == list(range(100, ROWS))
            async with connection.read_partition(parts.descriptors[0]) as part:
                batches = [batch async for batch in part.fetch_arrow_batches()]
                assert len(batches) > 1
                assert batches[0]["ID"][0].as_py() == 100
                assert (await part.fetch_arrow_table()).num_rows == 0
            # One that is left in the middle.
            async with connection.read_partition(parts.descriptors[0]) as part:
                async for _ in part.fetch_arrow_batches():
                    break
            await parts.close()
            cursor = await connection.execute(f"SELECT COUNT(*) FROM {large}")
            assert await cursor.fetchone() == (ROWS,)

    run(work())


def test_parts_that_cannot_be_read(database: str, large: str, version: int) -> None:
    """The errors say why, and what to do."""

    async def work() -> None:
        async with aio.connect(database) as connection:
            parts = await connection.read_partitions(f"SELECT id FROM {large}", 2)
            right = parts.descriptors[0]
            for wrong in (b"", b"x" * 100, right[:-3], right[:40] + bytes([right[40] ^ 1]) + right[41:]):
                with pytest.raises(firearrow.Error, match="partition"):
                    await aio.read_partition(wrong, database)
            await parts.close()
            await parts.close()
            if version >= 4:
                with pytest.raises(firearrow.InterfaceError, match="has ended and taken its snapshot"):
                    await aio.read_partition(right, database)
            for sql in (f"DELETE FROM {large}", "SELECT"):
                with pytest.raises(firearrow.Error):
                    await connection.read_partitions(sql)
            with pytest.raises(firearrow.ProgrammingError, match="out of range"):
                await connection.read_partitions(f"SELECT id FROM {large}", -1)
            with pytest.raises(firearrow.ProgrammingError, match="a query in parts takes"):
                await connection.read_partitions(
                    f"SELECT id FROM {large} WHERE id > ?", parameters=(object(),)
                )
            cursor = await connection.execute(f"SELECT COUNT(*) FROM {large}")
            assert await cursor.fetchone() == (ROWS,)

    run(work())


def test_parts_end_with_their_connection(database: str, large: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as leader:
            parts = await leader.read_partitions(f"SELECT * FROM {large}", 2)
            reading = await aio.connect(database)
            part = await reading.read_partition(parts.descriptors[0])
            rows = part.fetch_arrow_batches()
            assert (await anext(rows)).num_rows
            await reading.close()
            with pytest.raises(firearrow.InterfaceError, match="connection is closed"):
                await anext(rows)
            await part.close()
            dividing = leader.read_partitions(f"SELECT * FROM {large}")
            await leader.close()
            with pytest.raises(firearrow.InterfaceError, match="connection is closed"):
                await dividing
            with pytest.raises(firearrow.InterfaceError, match="connection is closed"):
                leader.read_partitions(f"SELECT * FROM {large}")
            await parts.close()

    run(work())


def test_parts_end_with_the_loan(database: str, large: str) -> None:
    async def work() -> None:
        async with opened(database, max_size=1) as pool:
            async with pool.connection() as connection:
                parts = await connection.read_partitions(f"SELECT id FROM {large}", 2)
                part = await connection.read_partition(parts.descriptors[0])
                rows = part.fetch_arrow_batches()
                assert (await anext(rows)).num_rows
            assert (part.closed, parts.closed) == (True, True)
            with pytest.raises(firearrow.InterfaceError):
                await anext(rows)
            async with pool.connection() as connection:
                cursor = await connection.execute(f"SELECT COUNT(*) FROM {large}")
                assert await cursor.fetchone() == (ROWS,)

    run(work())


def test_a_cancelled_division_and_read(database: str, large: str) -> None:
    """The connection is usable afterwards, or known to be lost."""

    async def work() -> None:
        for seconds in (0.0, 0.001, 0.01, 0.05):
            async with aio.connect(database) as connection:

                async def read(connection: aio.Connection = connection) -> None:
                    async with connection.read_partitions(f"SELECT * FROM {large}", 2) as parts:
                        for descriptor in parts:
                            async with connection.read_partition(descriptor) as part:
                                await part.fetch_arrow_table()

                task = asyncio.create_task(read())
                await asyncio.sleep(seconds)
                task.cancel()
                await asyncio.wait([task])
                if connection.is_alive:
                    cursor = await connection.execute(f"SELECT COUNT(*) FROM {large}")
                    assert await cursor.fetchone() == (ROWS,)

    run(work())

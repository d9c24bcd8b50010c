"""What was opened on a pooled connection ends with the loan."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from typing import Any

import pytest

import firearrow
from firearrow import InterfaceError, Pool, PooledConnection, aio

pyarrow = pytest.importorskip("pyarrow")

OPEN = "SELECT COUNT(*) FROM MON$TRANSACTIONS WHERE MON$ATTACHMENT_ID = CURRENT_CONNECTION"
ROWS = 60_000


@pytest.fixture(scope="module")
def numbers(database: str) -> str:
    """A table with more rows than are read ahead, and a BLOB."""
    name = "LOAN_NUMBERS"
    with firearrow.connect(database) as connection:
        connection.execute(f"RECREATE TABLE {name} (n INTEGER, data BLOB)")
        connection.commit()
        connection.executemany(f"INSERT INTO {name} (n) VALUES (?)", [(n,) for n in range(ROWS)])
        connection.execute(f"UPDATE {name} SET data = ? WHERE n = 1", (b"x" * 100_000,))
    return name


@pytest.fixture
def pool(database: str) -> Iterator[Pool]:
    with Pool(database, max_size=1, acquire_timeout=20) as pool:
        yield pool


def blob_id(connection: Any, table: str) -> int:
    sql = f"SELECT data FROM {table} WHERE n = 1"
    return int(connection.execute(sql, read={"blobs": "lazy"}).fetchone()[0])


def assert_clean(pool: Pool) -> None:
    """The next borrower has one transaction: its own."""
    with pool.connection() as connection:
        assert connection.execute(OPEN).fetchone() == (1,)
    assert pool.stats.size == 1


def transaction_stream(connection: PooledConnection, table: str) -> Any:
    return connection.begin().execute(f"SELECT n FROM {table}").fetch_arrow_batches()


def main_stream(connection: PooledConnection, table: str) -> Any:
    return connection.execute(f"SELECT n FROM {table}").fetch_arrow_batches()


def autocommit_stream(connection: PooledConnection, table: str) -> Any:
    connection.autocommit = True
    return connection.execute(f"SELECT n FROM {table}").fetch_arrow_batches()


def part_stream(connection: PooledConnection, table: str) -> Any:
    with connection.read_partitions(f"SELECT n FROM {table}", 1) as parts:
        return connection.read_partition(parts.descriptors[0]).fetch_arrow_batches()


@pytest.mark.parametrize("opened", [transaction_stream, main_stream, autocommit_stream, part_stream])
def test_an_arrow_stream_fails_after_the_loan(pool: Pool, numbers: str, opened: Any) -> None:
    with pool.connection() as connection:
        stream = opened(connection, numbers)
        assert stream.read_next_batch().num_rows > 0
    assert_clean(pool)
    # Arrow's interface knows no exceptions of ours.
    with pytest.raises((pyarrow.ArrowException, OSError)):
        stream.read_all()


def test_a_stream_that_was_read_does_not_cost_the_connection(pool: Pool, numbers: str) -> None:
    with pool.connection() as connection:
        before = connection.execute("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").fetchone()
        modern = int(str(connection.info["engine_version"]).split(".")[0]) >= 4
        connection.rollback()
        assert autocommit_stream(connection, numbers).read_all().num_rows == ROWS
    with pool.connection() as connection:
        after = connection.execute("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").fetchone()
        assert connection.autocommit is False
    assert (after == before) is modern


@pytest.mark.parametrize("autocommit", [False, True])
def test_json_ends_with_the_loan(pool: Pool, numbers: str, autocommit: bool) -> None:
    with pool.connection() as connection:
        connection.autocommit = autocommit
        pieces = connection.execute(f"SELECT n FROM {numbers}").stream_json()
        assert next(pieces).startswith(b'{"N":0}\n')
    assert_clean(pool)
    with pytest.raises(InterfaceError, match="closed"):
        next(pieces)


def test_a_closed_cursor_ends_its_json(connection: firearrow.Connection, numbers: str) -> None:
    cursor = connection.execute(f"SELECT n FROM {numbers}")
    pieces = cursor.stream_json()
    next(pieces)
    cursor.close()
    with pytest.raises(InterfaceError, match="the cursor is closed"):
        next(pieces)


def test_json_of_the_last_statement_goes_on_after_the_next(
    connection: firearrow.Connection, numbers: str
) -> None:
    cursor = connection.execute(f"SELECT n FROM {numbers} ORDER BY n")
    pieces = cursor.stream_json()
    first = next(pieces)
    other = cursor.execute("SELECT 1 AS one FROM RDB$DATABASE").stream_json()
    assert next(other) == b'{"ONE":1}\n'
    assert (first + b"".join(pieces)).count(b"\n") == ROWS


def test_blobs_end_with_the_loan(pool: Pool, numbers: str) -> None:
    opened: list[io.RawIOBase] = []
    with pool.connection() as connection:
        number = blob_id(connection, numbers)
        transaction = connection.begin()
        opened += [connection.open_blob(number), connection.create_blob()]
        opened += [transaction.open_blob(number), transaction.create_blob()]
        assert opened[0].read(10) == b"x" * 10
        del transaction
    assert_clean(pool)
    for blob in opened:
        assert blob.closed
        with pytest.raises(InterfaceError, match="the BLOB is closed"):
            blob.write(b"y") if blob.writable() else blob.read(1)


def test_events_end_with_the_loan(pool: Pool) -> None:
    with pool.connection() as connection:
        events = connection.events("loan")
        assert not events.closed
    assert_clean(pool)
    assert events.closed
    with pytest.raises(InterfaceError):
        events.wait(0.01)
    with pytest.raises(InterfaceError):
        next(iter(events))


def test_parts_end_with_the_loan(pool: Pool, numbers: str) -> None:
    with pool.connection() as connection:
        parts = connection.read_partitions(f"SELECT n FROM {numbers}", 2)
        part = connection.read_partition(parts.descriptors[0])
    assert_clean(pool)
    for use in (lambda: pyarrow.table(part), part.fetch_arrow_table):
        with pytest.raises(InterfaceError, match="the part is closed"):
            use()
    with pytest.raises(InterfaceError, match="gone back to its pool"):
        connection.read_partition(parts.descriptors[0])


def test_the_catalog_ends_with_the_loan(pool: Pool, numbers: str) -> None:
    with pool.connection() as connection:
        catalog = connection.catalog
        assert [table.name for table in catalog.tables(numbers)] == [numbers]
    with pytest.raises(InterfaceError, match="gone back to its pool"):
        catalog.tables()


def test_what_tasks_have_opened_ends_with_the_loan(database: str, numbers: str) -> None:
    async def work() -> None:
        async with aio.Pool(database, max_size=1, acquire_timeout=20) as pool:
            async with pool.connection() as connection:
                cursor = await connection.execute(
                    f"SELECT data FROM {numbers} WHERE n = 1", read={"blobs": "lazy"}
                )
                number = (await cursor.fetchone())[0]
                transaction = connection.begin()
                blobs: list[Any] = [
                    await connection.open_blob(number),
                    await connection.create_blob(),
                    await transaction.open_blob(number),
                    await transaction.create_blob(),
                ]
                assert await blobs[0].read(10) == b"x" * 10
                del transaction
                catalog = connection.catalog
                assert len(await catalog.tables(numbers)) == 1
                events = await connection.events("loan")
                later = connection.events("loan"), connection.open_blob(number)
                pieces = (await connection.execute(f"SELECT n FROM {numbers}")).stream_json()
                assert (await anext(pieces)).startswith(b'{"N":')
                batches = (await connection.execute(f"SELECT n FROM {numbers}")).fetch_arrow_batches()
                assert (await anext(batches)).num_rows > 0
            async with pool.connection() as other:
                assert await (await other.execute(OPEN)).fetchone() == (1,)
            for blob in blobs:
                assert blob.closed
                with pytest.raises(InterfaceError, match="the BLOB is closed"):
                    await (blob.write(b"y") if blob.writable() else blob.read(1))
            assert events.closed
            for use in (
                lambda: events.wait(0.01),
                lambda: catalog.tables(),
                lambda: later[0],
                lambda: later[1],
                lambda: anext(pieces),
                lambda: anext(batches),
            ):
                with pytest.raises(InterfaceError):
                    await use()
            assert pool.stats.size == 1

    asyncio.run(asyncio.wait_for(work(), 60))


def test_json_of_a_task_in_autocommit_mode_ends_with_the_loan(database: str, numbers: str) -> None:
    async def work() -> None:
        async with aio.Pool(database, max_size=1, acquire_timeout=20) as pool:
            async with pool.connection() as connection:
                await connection.set_autocommit(True)
                pieces = (await connection.execute(f"SELECT n FROM {numbers}")).stream_json()
                await anext(pieces)
            async with pool.connection() as other:
                assert await (await other.execute(OPEN)).fetchone() == (1,)
            with pytest.raises(InterfaceError):
                await anext(pieces)

    asyncio.run(asyncio.wait_for(work(), 60))

"""Bounds for what is kept of a result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import firearrow
from firearrow import aio

ROWS = 30_000

KEEPING: dict[str, Callable[[firearrow.Cursor], int]] = {
    "fetchall": lambda cursor: len(cursor.fetchall()),
    "arrow": lambda cursor: int(cursor.fetch_arrow_table().num_rows),
    "pandas": lambda cursor: len(cursor.fetch_pandas()),
    "polars": lambda cursor: len(cursor.fetch_polars()),
    "numpy": lambda cursor: len(cursor.fetch_numpy()["ID"]),
    "json": lambda cursor: cursor.fetch_json().count(b'"ID"'),
}


@pytest.fixture
def query(connection: firearrow.Connection, table: str) -> str:
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL, text VARCHAR(20) NOT NULL)")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", ((n, f"{n:020}") for n in range(ROWS)))
    connection.commit()
    return f"SELECT id, text FROM {table}"


@pytest.mark.parametrize("keep", KEEPING.values(), ids=KEEPING)
@pytest.mark.parametrize("most", [{"max_result_rows": ROWS - 1}, {"max_result_bytes": ROWS * 24}], ids=repr)
def test_more_is_an_error(
    database: str,
    connection: firearrow.Connection,
    query: str,
    keep: Callable[[firearrow.Cursor], int],
    most: dict[str, int],
) -> None:
    """The error names the remedy, and the connection goes on; what fits comes whole."""
    (name, number) = next(iter(most.items()))
    cursor = connection.execute(query, **most)
    with pytest.raises(firearrow.OperationalError, match=f"more than {number} .*{name}.*fetchmany") as caught:
        keep(cursor)
    assert (caught.value.kind, caught.value.sqlstate) == ("TooLarge", "54000")
    assert not caught.value.retryable
    with pytest.raises(firearrow.ProgrammingError, match="no rows to fetch"):
        cursor.fetchone()
    enough = {"max_result_rows": ROWS} if name == "max_result_rows" else {name: ROWS * 40}
    assert keep(connection.execute(query, **enough)) == ROWS
    with firearrow.connect(database, **most) as bounded:
        assert (bounded.max_result_rows, bounded.max_result_bytes) == (
            most.get("max_result_rows"),
            most.get("max_result_bytes"),
        )
        with pytest.raises(firearrow.OperationalError, match=name):
            keep(bounded.execute(query))
        assert keep(bounded.execute(query, **enough)) == ROWS
        setattr(bounded, name, None)
        assert keep(bounded.execute(query)) == ROWS


def test_streams_have_no_bounds(connection: firearrow.Connection, query: str) -> None:
    connection.max_result_rows, connection.max_result_bytes = 10, 100
    assert sum(1 for _ in connection.execute(query)) == ROWS
    assert len(connection.execute(query).fetchmany(ROWS)) == ROWS
    assert connection.execute(query).fetch_arrow_batches().read_all().num_rows == ROWS
    assert sum(piece.count(b"\n") for piece in connection.execute(query).stream_json()) == ROWS
    cursor = connection.execute(query)
    assert len(cursor.fetchmany(ROWS - 5)) == ROWS - 5
    connection.max_result_bytes = None
    assert len(cursor.fetchall()) == 5, "what is left fits"


def test_small_results_fit(connection: firearrow.Connection) -> None:
    """A bound of no rows lets none through, and room in buffers does not count."""
    one = "SELECT CAST(7 AS INTEGER) AS id FROM RDB$DATABASE"
    assert connection.execute(one, max_result_rows=1, max_result_bytes=64).fetchall() == [(7,)]
    with pytest.raises(firearrow.OperationalError):
        connection.execute(one, max_result_rows=0).fetchall()
    assert connection.execute(f"{one} WHERE 1 = 0", max_result_rows=0).fetchall() == []


@pytest.mark.parametrize("value", [-1, 1.5, "many", True])
def test_bounds_that_are_none(database: str, connection: firearrow.Connection, value: Any) -> None:
    for name in ("max_result_rows", "max_result_bytes"):
        with pytest.raises(firearrow.ProgrammingError, match=name):
            connection.execute("SELECT 1 FROM RDB$DATABASE", **{name: value})
        with pytest.raises(firearrow.InterfaceError, match=name):
            firearrow.connect(database, **{name: value})


def test_aio(database: str, query: str) -> None:
    async def run() -> None:
        async with aio.connect(database, max_result_rows=ROWS - 1) as connection:
            for fetch in ("fetchall", "fetch_arrow_table", "fetch_polars"):
                cursor = await connection.execute(query)
                with pytest.raises(firearrow.OperationalError, match="max_result_rows"):
                    await getattr(cursor, fetch)()
                cursor = await connection.execute(query, max_result_rows=ROWS)
                assert len(await getattr(cursor, fetch)()) == ROWS
                cursor = await connection.execute(query, max_result_rows=ROWS, max_result_bytes=ROWS * 24)
                with pytest.raises(firearrow.OperationalError, match="max_result_bytes"):
                    await getattr(cursor, fetch)()
            cursor = await connection.execute(query)
            assert len([row async for row in cursor]) == ROWS
            cursor = await connection.execute(query)
            assert len(await cursor.fetchmany(ROWS)) == ROWS
            cursor = await connection.execute(query)
            assert sum([batch.num_rows async for batch in cursor.fetch_arrow_batches()]) == ROWS

    asyncio.run(run())


def with_options(database: str, **options: int) -> list[str]:
    """The database in the forms that have room for options."""
    pairs = [f"{name}={value}" for name, value in options.items()]
    if "://" in database:
        return [f"{database}{'&' if '?' in database else '?'}{'&'.join(pairs)}"]
    return [f"{database}?{'&'.join(pairs)}", f"Database={{{database}}};{';'.join(pairs)}"]


def test_bounds_in_the_text_of_the_database(database: str, query: str) -> None:
    """An argument is stronger than the text, and one of an execution stronger than both."""
    for text in with_options(database, max_result_rows=ROWS - 1, max_result_bytes=10**9):
        with firearrow.connect(text) as bounded:
            assert (bounded.max_result_rows, bounded.max_result_bytes) == (ROWS - 1, 10**9)
            with pytest.raises(firearrow.OperationalError, match=f"more than {ROWS - 1} rows"):
                bounded.execute(query).fetchall()
            assert len(bounded.execute(query, max_result_rows=ROWS).fetchall()) == ROWS
        with firearrow.connect(text, max_result_rows=5) as bounded:
            assert (bounded.max_result_rows, bounded.max_result_bytes) == (5, 10**9)
        with firearrow.Pool(text, max_size=1) as pool, pool.connection() as pooled:
            assert pooled.max_result_rows == ROWS - 1

        async def work(text: str = text) -> None:
            async with aio.connect(text) as other:
                assert (other.max_result_rows, other.max_result_bytes) == (ROWS - 1, 10**9)

        asyncio.run(work())

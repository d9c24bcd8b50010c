"""Cursors whose rows are fetched in any order, as PEP 249's extension ``scroll`` has it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from loops import run

import firearrow
from firearrow import aio

ROWS = 1000


@pytest.fixture
def query(connection: firearrow.Connection, numbers: str) -> str:
    """A query of the numbers from 0 on, more than are read at a time."""
    connection.executemany(f"INSERT INTO {numbers} VALUES (?)", ((n,) for n in range(ROWS)))
    connection.commit()
    return f"SELECT n FROM {numbers} ORDER BY n"


def test_in_any_order(connection: firearrow.Connection, query: str) -> None:
    cursor = connection.cursor(scrollable=True)
    assert cursor.rownumber is None
    cursor.execute(query)
    assert (cursor.rownumber, cursor.fetchone(), cursor.rownumber) == (0, (0,), 1)
    cursor.scroll(500)
    assert cursor.fetchmany(2) == [(501,), (502,)]
    cursor.scroll(-3)
    assert (cursor.rownumber, cursor.fetchone()) == (500, (500,))
    cursor.scroll(0)
    assert cursor.fetchone() == (501,)
    cursor.scroll(ROWS - 1, mode="absolute")
    assert (cursor.fetchone(), cursor.fetchone(), cursor.rowcount) == ((999,), None, ROWS)
    # From behind the last row.
    cursor.scroll(-1)
    assert (cursor.fetchall(), cursor.fetchall()) == ([(999,)], [])
    cursor.scroll(0, "absolute")
    assert (cursor.rowcount, cursor.fetchall()) == (-1, [(n,) for n in range(ROWS)])
    cursor.scroll(10, "absolute")
    assert [row for row in cursor] == [(n,) for n in range(10, ROWS)]
    # The statement is executed again.
    assert cursor.execute(query).fetchone() == (0,)
    cursor.close()


@pytest.mark.parametrize(
    ("value", "mode"), [(ROWS, "absolute"), (10**12, "absolute"), (-6, "relative"), (ROWS, "relative")]
)
def test_rows_that_do_not_exist(connection: firearrow.Connection, query: str, value: int, mode: str) -> None:
    """The place is the same as before, also for rows that have not been read yet."""
    cursor = connection.cursor(scrollable=True).execute(query)
    assert len(cursor.fetchmany(5)) == 5
    with pytest.raises(IndexError, match="there is no row"):
        cursor.scroll(value, mode)
    assert cursor.rownumber == 5
    assert cursor.fetchall() == [(n,) for n in range(5, ROWS)]


def test_no_rows_at_all(connection: firearrow.Connection, query: str) -> None:
    cursor = connection.cursor(scrollable=True)
    cursor.execute(f"{query} ROWS 0")
    with pytest.raises(IndexError, match="there is no row 0"):
        cursor.scroll(0, "absolute")
    assert cursor.fetchall() == []
    with pytest.raises(IndexError):
        cursor.scroll(0)


TAKING: dict[str, Callable[[firearrow.Cursor], Any]] = {
    "tuples": lambda cursor: [n for (n,) in cursor.fetchall()],
    "Arrow": lambda cursor: cursor.fetch_arrow_table()["N"].to_pylist(),
    "batches": lambda cursor: cursor.fetch_arrow_batches().read_all()["N"].to_pylist(),
    "JSON": lambda cursor: [row["N"] for row in json.loads(cursor.fetch_json())],
    "lines": lambda cursor: [json.loads(line)["N"] for line in b"".join(cursor.stream_json()).splitlines()],
}


@pytest.mark.parametrize("take", TAKING.values(), ids=TAKING)
def test_every_form_begins_where_the_cursor_is(
    connection: firearrow.Connection, query: str, take: Callable[[firearrow.Cursor], Any]
) -> None:
    cursor = connection.cursor(scrollable=True).execute(query)
    cursor.fetchmany(900)
    cursor.scroll(-800)
    assert cursor.fetchone() == (100,)
    assert take(cursor) == list(range(101, ROWS))


def test_with_values_of_all_kinds(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER, price NUMERIC(9, 2), note BLOB SUB_TYPE TEXT)")
    connection.commit()
    rows = [(1, None, "ž" * 100_000), (2, 1.5, None), (3, 2, "short")]
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    sql = f"SELECT * FROM {table} WHERE id > ? ORDER BY id"
    usual = connection.execute(sql, (0,)).fetchall()
    with connection.cursor(scrollable=True, row_factory=firearrow.dict_row) as cursor:
        cursor.execute(sql, (0,))
        for row in (2, 0, 1):
            cursor.scroll(row, "absolute")
            assert tuple(cursor.fetchone().values()) == usual[row]
    with connection.begin() as transaction, transaction.cursor(scrollable=True) as cursor:
        cursor.execute("SELECT 1 FROM rdb$database")
        cursor.scroll(0)
        assert cursor.fetchall() == [(1,)]


def test_what_cannot_be_scrolled(
    database: str, connection: firearrow.Connection, query: str, numbers: str
) -> None:
    usual = connection.execute(query)
    with pytest.raises(firearrow.ProgrammingError, match="scrollable=True"):
        usual.scroll(1)
    assert usual.fetchone() == (0,)
    cursor = connection.cursor(scrollable=True)
    with pytest.raises(firearrow.ProgrammingError, match="no rows to fetch"):
        cursor.scroll(1)
    # Statements of other kinds are executed as usual.
    cursor.execute(f"INSERT INTO {numbers} VALUES (-1) RETURNING n")
    with pytest.raises(firearrow.ProgrammingError, match="cannot scroll"):
        cursor.scroll(0)
    assert cursor.fetchall() == [(-1,)]
    assert cursor.execute(f"DELETE FROM {numbers} WHERE n < 0").rowcount == 1
    cursor.execute(query)
    with pytest.raises(firearrow.ProgrammingError, match="must be 'relative' or 'absolute', not 'first'"):
        cursor.scroll(1, "first")
    connection.commit()
    with pytest.raises(firearrow.Error):
        cursor.scroll(700, "absolute")
    cursor.close()
    with pytest.raises(firearrow.InterfaceError, match="closed"):
        cursor.scroll(0)
    with firearrow.connect(database, autocommit=True) as other:
        cursor = other.cursor(scrollable=True)
        with pytest.raises(firearrow.ProgrammingError, match=r"scrollable cursor: use begin\(\)"):
            cursor.execute(query)
        with other.begin() as transaction, transaction.cursor(scrollable=True) as cursor:
            cursor.execute(query).scroll(3)
            assert cursor.fetchone() == (3,)


def test_in_tasks(database: str, query: str) -> None:
    async def work() -> None:
        async with aio.connect(database) as connection:
            cursor = await connection.cursor(scrollable=True).execute(query)
            assert await cursor.fetchmany(5) == [(n,) for n in range(5)]
            await cursor.scroll(600)
            assert (cursor.rownumber, await cursor.fetchone()) == (605, (605,))
            for wrong in (-700, 10**9):
                with pytest.raises(IndexError, match="there is no row"):
                    await cursor.scroll(wrong)
            await cursor.scroll(-1)
            assert (await cursor.fetch_arrow_table())["N"].to_pylist() == list(range(605, ROWS))
            await cursor.scroll(998, "absolute")
            assert await cursor.fetchall() == [(998,), (999,)]
            assert cursor.rowcount == ROWS
            await cursor.scroll(-1)
            assert await cursor.fetchone() == (999,)
            await cursor.execute(query)
            assert await cursor.fetchone() == (0,)
            async with connection.begin() as transaction, transaction.cursor(scrollable=True) as other:
                await (await other.execute(f"{query} ROWS 3")).scroll(2)
                assert await other.fetchall() == [(2,)]
                with pytest.raises(firearrow.ProgrammingError, match="cannot scroll"):
                    await (await connection.execute(query)).scroll(1)

    run(work())

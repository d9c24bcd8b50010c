"""Statements that new cursors execute again: they stay prepared for a moment, and let others alter tables."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from contextlib import suppress

import pytest

import firearrow
import firearrow.aio


def test_a_table_that_is_read_and_dropped(database: str, table: str) -> None:
    """Also in one transaction, and in the write that commits."""
    for autocommit in (False, True):
        with firearrow.connect(database, autocommit=autocommit) as connection:
            connection.execute(f"CREATE TABLE {table} (id INTEGER)")
            if not autocommit:
                connection.commit()
        with firearrow.connect(database, autocommit=autocommit) as connection:
            for _ in range(3):
                assert connection.execute(f"SELECT * FROM {table}").fetchall() == []
            connection.execute(f"DROP TABLE {table}")


def test_others_may_drop_what_was_read(database: str, table: str, other: firearrow.Connection) -> None:
    with firearrow.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    with firearrow.connect(database, autocommit=True) as connection:
        assert connection.execute(f"SELECT * FROM {table}").fetchall() == []
        gc.collect()
        time.sleep(1)
        other.execute(f"DROP TABLE {table}")
        other.commit()


def test_others_may_drop_what_tasks_have_read(database: str, table: str, other: firearrow.Connection) -> None:
    other.execute(f"CREATE TABLE {table} (id INTEGER)")
    other.commit()

    async def run() -> None:
        async with await firearrow.aio.connect(database, autocommit=True) as connection:
            cursor = await connection.execute(f"SELECT * FROM {table}")
            assert await cursor.fetchall() == []
            del cursor
            await asyncio.sleep(1)
            other.execute(f"DROP TABLE {table}")
            other.commit()

    asyncio.run(run())


def test_who_polls_keeps_nobody_from_dropping_tables(
    database: str, table: str, other: firearrow.Connection
) -> None:
    other.execute(f"CREATE TABLE {table} (id INTEGER)")
    other.commit()
    is_polling, polls = threading.Event(), 0

    def poll() -> None:
        nonlocal polls
        with firearrow.connect(database, autocommit=True) as connection, suppress(firearrow.DatabaseError):
            while True:
                connection.execute(f"SELECT * FROM {table}").fetchall()
                polls += 1
                is_polling.set()
                time.sleep(0.02)

    thread = threading.Thread(target=poll)
    thread.start()
    assert is_polling.wait(20)
    other.execute(f"DROP TABLE {table}")
    other.commit()
    thread.join(20)
    assert polls > 0 and not thread.is_alive()


@pytest.mark.parametrize("how", ["block", "executemany"])
def test_a_statement_of_any_kind_drops_what_was_read(database: str, table: str, how: str) -> None:
    with firearrow.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    with firearrow.connect(database) as connection:
        assert connection.execute(f"SELECT * FROM {table}").fetchall() == []
        if how == "executemany":
            connection.cursor().executemany(f"DROP TABLE {table}", [()])
        else:
            drop = f"EXECUTE STATEMENT 'DROP TABLE {table}'; done = 1; SUSPEND;"
            block = f"EXECUTE BLOCK RETURNS (done INTEGER) AS BEGIN {drop} END"
            assert connection.execute(block).fetchall() == [(1,)]
        connection.commit()


def test_readers_of_one_execution_are_not_those_of_the_next(database: str, table: str) -> None:
    """What is said for one execution is not for the next one."""
    with firearrow.connect(database) as connection:
        sql = "SELECT RDB$RELATION_ID FROM RDB$RELATIONS"
        expected = sorted(connection.execute(sql).fetchall())
        cursor = connection.cursor()
        for parallel in (2, None, 2, None):
            assert sorted(cursor.execute(sql, parallel=parallel).fetchall()) == expected


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO {table} VALUES (1)",
        "UPDATE {table} SET id = id + 1",
        "DELETE FROM {table}",
        "EXECUTE BLOCK AS BEGIN DELETE FROM {table}; END",
        "COMMENT ON TABLE {table} IS 'once more'",
    ],
)
def test_what_commits_with_its_execution_is_executed_again(database: str, table: str, sql: str) -> None:
    """By one cursor and by new ones: the commit in the same write must not release the statement."""
    sql = sql.format(table=table)

    async def run() -> None:
        async with await firearrow.aio.connect(database, autocommit=True) as connection:
            async with connection.cursor() as cursor:
                for _ in range(3):
                    await cursor.execute(sql)
            for _ in range(3):
                await connection.execute(sql)

    with firearrow.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {table} (id INTEGER)")
        with connection.cursor() as cursor:
            for _ in range(3):
                cursor.execute(sql)
        for _ in range(3):
            connection.execute(sql)
        asyncio.run(run())
        rows = connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
        assert rows == (12 if sql.startswith("INSERT") else 0,)

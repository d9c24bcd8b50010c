"""Statements that new cursors execute again: they stay prepared for a moment, and let others alter tables."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

import firearrow
import firearrow.aio


def packets(connection: firearrow.Connection | firearrow.aio.Connection) -> int:
    return connection.wire_stats["packets_sent"]


def test_new_cursors_execute_the_same_statement(database: str, is_wire: bool, table: str) -> None:
    with firearrow.connect(database) as connection:
        connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    if not is_wire:
        pytest.skip("in-process there are no packets to count")
    with firearrow.connect(database, autocommit=True) as connection:
        sql = f"SELECT COUNT(*) FROM {table} WHERE id < ?"
        sent = []
        for number in range(4):
            before = packets(connection)
            assert connection.execute(sql, (number,)).fetchall() == [(0,)]
            sent.append(packets(connection) - before)
        # The first one prepares; the others neither prepare nor free.
        assert sent[0] > sent[2] == sent[3]


def test_new_cursors_of_tasks_execute_the_same_statement(database: str, is_wire: bool) -> None:
    if not is_wire:
        pytest.skip("in-process there are no packets to count")

    async def run() -> list[int]:
        async with await firearrow.aio.connect(database, autocommit=True) as connection:
            sent = []
            for number in range(4):
                before = packets(connection)
                cursor = await connection.execute("SELECT COUNT(*) FROM RDB$DATABASE WHERE 1 < ?", (number,))
                assert len(await cursor.fetchall()) == 1
                del cursor
                sent.append(packets(connection) - before)
            return sent

    sent = asyncio.run(run())
    assert sent[0] > sent[2] == sent[3]


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


def test_readers_of_one_execution_are_not_those_of_the_next(database: str, table: str) -> None:
    """What is said for one execution is not for the next one."""
    with firearrow.connect(database) as connection:
        sql = "SELECT RDB$RELATION_ID FROM RDB$RELATIONS"
        expected = sorted(connection.execute(sql).fetchall())
        cursor = connection.cursor()
        for parallel in (2, None, 2, None):
            assert sorted(cursor.execute(sql, parallel=parallel).fetchall()) == expected

"""Threads that share connections and cursors."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from statements import LONG, works

import firearrow


def test_threads_share_a_connection(connection: firearrow.Connection, table: str) -> None:
    """Each has a cursor of its own; all belong to one transaction."""
    connection.execute(f"CREATE TABLE {table} (thread INTEGER, id INTEGER)")
    connection.commit()

    def work(thread: int) -> int:
        with connection.cursor() as cursor:
            for number in range(50):
                cursor.execute(f"INSERT INTO {table} VALUES (?, ?)", (thread, number))
                query = f"SELECT COUNT(*) FROM {table} WHERE thread = ?"
                assert cursor.execute(query, (thread,)).fetchone() == (number + 1,)
        return thread

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(8))) == list(range(8))
    connection.commit()
    assert connection.execute(f"SELECT COUNT(*), COUNT(DISTINCT thread) FROM {table}").fetchone() == (400, 8)


def test_threads_share_a_cursor(connection: firearrow.Connection, table: str) -> None:
    """Each row goes to one of them."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?)", [(n,) for n in range(5000)])
    cursor = connection.execute(f"SELECT id FROM {table}")

    def work(thread: int) -> list[int]:
        found: list[int] = []
        while rows := cursor.fetchmany(7) if thread % 2 else [row for row in [cursor.fetchone()] if row]:
            found += [row[0] for row in rows]
        return found

    with ThreadPoolExecutor(6) as pool:
        parts = list(pool.map(work, range(6)))
    assert sorted(number for part in parts for number in part) == list(range(5000))


def test_threads_that_execute_with_one_cursor(connection: firearrow.Connection) -> None:
    """The results of one may end the other's, with an error or fewer rows, but nothing worse."""
    cursor = connection.cursor()

    def work(thread: int) -> int:
        for _ in range(30):
            try:
                cursor.execute("SELECT FIRST 50 RDB$FIELD_NAME FROM RDB$FIELDS").fetchall()
            except firearrow.Error as error:
                assert not isinstance(error, firearrow.InternalError), error
        return 1

    with ThreadPoolExecutor(6) as pool:
        assert sum(pool.map(work, range(6))) == 6
    assert works(connection)


def test_other_threads_run_meanwhile(connection: firearrow.Connection) -> None:
    """A call that waits lets Python go on."""
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.01)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(firearrow.OperationalError):
            connection.execute(LONG, timeout=1).fetchall()
    finally:
        stop.set()
        thread.join()
    assert ticks > 20


def test_connections_of_many_threads(database: str) -> None:
    def work(thread: int) -> int:
        with firearrow.connect(database) as connection:
            return int(
                connection.execute("SELECT CAST(? AS INTEGER) FROM RDB$DATABASE", (thread,)).fetchone()[0]
            )

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(24))) == list(range(24))

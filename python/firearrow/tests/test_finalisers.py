"""What is dropped without being closed: ending it may wait for the server, dropping it may not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import firearrow

LONG = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"
# Its first rows come at once, the last one never.
MANY = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"


@contextmanager
def busy(connection: firearrow.Connection) -> Iterator[threading.Thread]:
    """Another thread runs a statement that does not end."""

    def run() -> None:
        with pytest.raises(firearrow.OperationalError, match="cancel"):
            connection.cursor().execute(LONG).fetchall()

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    assert thread.is_alive()
    try:
        yield thread
    finally:
        while thread.is_alive():
            connection.cancel()
            thread.join(0.1)


def rows(connection: firearrow.Connection) -> Any:
    cursor = connection.cursor()
    cursor.execute(MANY).fetchone()
    return cursor


def statement(connection: firearrow.Connection) -> Any:
    cursor = connection.cursor()
    cursor.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    return cursor


def stream(connection: firearrow.Connection) -> Any:
    return connection.cursor().execute(MANY).__arrow_c_stream__()


def transaction(connection: firearrow.Connection) -> Any:
    begun = connection.begin()
    begun.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    return begun


def blob(connection: firearrow.Connection) -> Any:
    writer = connection.create_blob()
    writer.write(b"never completed")
    return writer


def parts(connection: firearrow.Connection) -> Any:
    query = firearrow._core.Partitions(connection._core, MANY, None, 1)
    return connection._core.read_partition(query.descriptors()[0]), query


EVERY: dict[str, Callable[[firearrow.Connection], Any]] = {
    "rows": rows,
    "statement": statement,
    "stream": stream,
    "transaction": transaction,
    "blob": blob,
    "parts": parts,
}


@pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)
def test_dropping_waits_for_nobody(
    connection: firearrow.Connection, make: Callable[[firearrow.Connection], Any]
) -> None:
    """Not even while another thread keeps the connection busy; it is told to stop only afterwards."""
    dropped = [make(connection)]
    threading.Timer(3, connection.cancel).start()
    with busy(connection) as thread:
        begin = time.monotonic()
        dropped.clear()
        took = time.monotonic() - begin
        assert thread.is_alive()
    assert took < 0.5
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]


def test_the_next_call_comes_after_what_was_dropped(connection: firearrow.Connection, table: str) -> None:
    """A table that a dropped cursor still read could not be dropped."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.commit()
    for _ in range(20):
        connection.executemany(f"INSERT INTO {table} VALUES (?)", [(number,) for number in range(2000)])
        connection.commit()
        cursor = connection.cursor()
        cursor.execute(f"SELECT a.id FROM {table} a, {table} b").fetchone()
        begun = connection.begin()
        begun.execute(f"UPDATE {table} SET id = 0 WHERE id = 1")
        del cursor, begun
        connection.commit()
        connection.execute(f"RECREATE TABLE {table} (id INTEGER)")
        connection.commit()


def test_locks_go_without_another_call(
    connection: firearrow.Connection, other: firearrow.Connection, table: str
) -> None:
    """A transaction that was dropped is rolled back, although nobody uses its connection."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    connection.commit()
    begun = connection.begin()
    begun.execute(f"UPDATE {table} SET id = 2")
    del begun
    with other.begin(lock_timeout=5) as later:
        later.execute(f"UPDATE {table} SET id = 3")
    assert other.execute(f"SELECT id FROM {table}").fetchall() == [(3,)]


def test_closing_ends_what_was_dropped(database: str, other: firearrow.Connection) -> None:
    """Nothing of it is left when `close` returns."""
    connection = firearrow.connect(database)
    number = connection.info["attachment"]
    left = [make(connection) for make in EVERY.values()]
    left.clear()
    connection.close()
    query = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?"
    deadline = time.monotonic() + 10
    while other.execute(query, (number,)).fetchone() != (0,):
        assert time.monotonic() < deadline, "it stays"
        other.rollback()
        time.sleep(0.05)


def test_a_connection_that_is_dropped_first(database: str, other: firearrow.Connection) -> None:
    """Its parts end with it, in whichever order they go."""
    for make in EVERY.values():
        connection = firearrow.connect(database)
        number = connection.info["attachment"]
        part = make(connection)
        with pytest.warns(ResourceWarning):
            del connection
            del part
        query = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?"
        deadline = time.monotonic() + 10
        while other.execute(query, (number,)).fetchone() != (0,):
            assert time.monotonic() < deadline, f"{make.__name__}: it stays"
            other.rollback()
            time.sleep(0.05)

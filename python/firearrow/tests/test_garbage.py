"""What nobody closes, and the garbage collection in any order."""

from __future__ import annotations

import gc
import threading
import time
import warnings
import weakref
from typing import Any

import pytest
from statements import MANY

import firearrow


def test_what_is_left_open_is_told(database: str) -> None:
    """A connection that nobody closed gives a ResourceWarning, and ends."""
    connection = firearrow.connect(database)
    number = connection.info["attachment"]
    with pytest.warns(ResourceWarning, match="not closed"):
        del connection
        gc.collect()
    with firearrow.connect(database) as watching:
        query = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?"
        deadline = time.monotonic() + 10
        while watching.execute(query, (number,)).fetchone() != (0,):
            assert time.monotonic() < deadline, "it never ended"
            watching.rollback()
            time.sleep(0.05)


def test_a_cursor_keeps_its_connection(database: str) -> None:
    connection = firearrow.connect(database)
    cursor = connection.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")
    transaction = connection.begin()
    del connection
    gc.collect()
    assert len(cursor.fetchall()) > 100
    assert transaction.connection is cursor.connection
    cursor.connection.close()


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)])
def test_any_order_of_garbage(database: str, order: tuple[int, ...]) -> None:
    """Cursor, transaction and connection may go in any order, in the middle of a result."""
    connection = firearrow.connect(database)
    transaction = connection.begin()
    cursor = transaction.execute(MANY)
    cursor.fetchone()
    things: list[Any] = [connection, transaction, cursor]
    gone = weakref.ref(connection)
    del connection, transaction, cursor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for index in order:
            things[index] = None
            gc.collect()
    assert gone() is None


def test_cycles_of_garbage(database: str) -> None:
    """Objects that refer to each other are collected, by whichever thread it is that collects."""

    class Holder:
        pass

    started = time.monotonic()
    found: list[weakref.ref[Any]] = []
    for _ in range(20):
        holder: Any = Holder()
        holder.connection = firearrow.connect(database)
        holder.connection._holder = holder
        holder.cursor = holder.connection.execute(MANY)
        holder.cursor.fetchone()
        holder.cursor.holder = holder
        found.append(weakref.ref(holder.connection))
        del holder
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join(30)
        gc.collect()
    assert not thread.is_alive()
    assert all(reference() is None for reference in found)
    assert time.monotonic() - started < 60

"""A connection that another thread keeps busy."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from statements import LONG

import firearrow


@contextmanager
def busy(
    connection: firearrow.Connection, what: str = "execute"
) -> Iterator[tuple[firearrow.Cursor, threading.Thread]]:
    """Another thread runs a statement of the connection's transaction that does not end.

    ``execute``: with a cursor of its own. ``cursor``: with the one that this returns, too.
    """
    cursor = connection.cursor()

    def run() -> None:
        with suppress(firearrow.OperationalError):
            (cursor if what == "cursor" else connection.cursor()).execute(LONG).fetchall()

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.4)
    assert thread.is_alive()
    try:
        yield cursor, thread
    finally:
        while thread.is_alive():
            connection.cancel()
            thread.join(0.1)

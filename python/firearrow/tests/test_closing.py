"""Connections that are closed or dropped while a call runs, and calls within calls."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from programs import script
from statements import LONG, MANY, works

import firearrow


def test_rows_come_from_the_transaction_that_takes_them(database: str) -> None:
    """The rows of an Arrow stream are asked for while the transaction inserts, and must not wait for it."""
    done = script(
        database,
        """
        import sys, firearrow, pyarrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("RECREATE TABLE of_itself (a INTEGER)")
        connection.commit()
        schema = pyarrow.schema([("A", pyarrow.int32())])
        def rows():
            connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone()
            yield pyarrow.record_batch([pyarrow.array([1], pyarrow.int32())], schema=schema)
        try:
            connection.cursor().ingest(pyarrow.RecordBatchReader.from_batches(schema, rows()), "OF_ITSELF")
        except Exception as error:
            print("in use" in str(error), type(error).__name__)
        connection.rollback()
        print(connection.execute("SELECT COUNT(*) FROM of_itself").fetchone())
        connection.close()
        """,
        timeout=40,
    )
    assert done.stdout.endswith("(0,)\n") and done.stdout.startswith("True "), done.stdout + done.stderr


# Part of a program: waits until the server has no longer the connection of this number.
WATCH = """
        def watch(number):
            with firearrow.connect(sys.argv[1]) as other:
                query = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?"
                deadline = time.monotonic() + 10
                while other.execute(query, (number,)).fetchone()[0]:
                    assert time.monotonic() < deadline, "it stays"
                    other.rollback()
                    time.sleep(0.05)
"""

# What a thread does while another one closes its connection, after 0.3 s.
UNDER_WAY = {
    "execute": f"connection.execute({LONG!r}).fetchone()",
    "fetchall": f"connection.execute({MANY!r}).fetchall()",
    "fetchone": f"for _ in connection.execute({MANY!r}): pass",
    "json": f"connection.execute({MANY!r}).fetch_json()",
    "statements": "while True: connection.execute('SELECT 1 FROM RDB$DATABASE').fetchall()",
    "executemany": "connection.executemany('EXECUTE PROCEDURE busy(?)', ((n,) for n in range(10**9)))",
    "events": "connection.events('nothing').wait()",
    "events in time": "connection.events('nothing').wait(60)",
    "lock": "connection.execute('UPDATE busy_close SET id = 2')",
}


@pytest.mark.parametrize("call", UNDER_WAY.values(), ids=UNDER_WAY)
def test_closing_from_another_thread(database: str, call: str) -> None:
    """Whoever waits is told that it was closed, and close does not wait for it."""
    done = script(
        database,
        WATCH
        + f"""
        import sys, threading, time, firearrow
        connection, other = firearrow.connect(sys.argv[1]), firearrow.connect(sys.argv[1])
        connection.execute("CREATE OR ALTER PROCEDURE busy (n INTEGER) AS BEGIN END")
        connection.execute("RECREATE TABLE busy_close (id INTEGER)")
        connection.commit()
        other.execute("INSERT INTO busy_close VALUES (1)")
        other.commit()
        other.execute("UPDATE busy_close SET id = 3")
        number = connection.info["attachment"]
        told = []
        def run():
            try:
                {call}
            except firearrow.InterfaceError as error:
                told.append(str(error))
        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(0.3)
        started = time.monotonic()
        connection.close()
        thread.join(5)
        print(time.monotonic() - started < 4, thread.is_alive(), connection.closed, told)
        watch(number)
        other.close()
        """,
        timeout=40,
    )
    assert done.stdout.startswith("True False True ['the connection "), done.stdout + done.stderr
    assert "closed" in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def test_closing_with_many_threads(database: str) -> None:
    """All are told."""
    connection = firearrow.connect(database)

    def work(thread: int) -> str:
        try:
            while True:
                connection.execute(MANY if thread % 2 else "SELECT 1 FROM RDB$DATABASE").fetchmany(5000)
        except firearrow.InterfaceError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        told = [pool.submit(work, thread) for thread in range(6)]
        time.sleep(0.3)
        started = time.monotonic()
        closing = [pool.submit(connection.close) for _ in range(2)]
        assert [done.result(10) for done in closing] == [None, None]
        assert all("closed" in text.result(10) for text in told)
    assert time.monotonic() - started < 4


def test_closing_within_a_call(database: str) -> None:
    """An iterator and a signal handler may close the connection whose call they interrupt."""
    done = script(
        database,
        WATCH
        + f"""
        import os, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("RECREATE TABLE busy_own (id INTEGER)")
        connection.commit()
        number = connection.info["attachment"]
        def rows():
            yield (1,)
            connection.close()
            yield (2,)
        try:
            connection.executemany("INSERT INTO busy_own VALUES (?)", rows())
        except firearrow.InterfaceError as error:
            print(error)
        watch(number)

        connection = firearrow.connect(sys.argv[1])
        number = connection.info["attachment"]
        signal.signal(signal.SIGINT, lambda *_: connection.close())
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            connection.execute({LONG!r}).fetchall()
        except firearrow.InterfaceError as error:
            print(error)
        watch(number)
        """,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch("(the connection (is closed|was closed during this call)\n){2}", done.stdout), (
        done.stdout
    )


def test_dropping_within_a_call(database: str, connection: firearrow.Connection) -> None:
    def rows() -> Any:
        yield (1,)
        connection.drop_database()

    with pytest.raises(firearrow.ProgrammingError, match="within a call"):
        connection.executemany("SELECT CAST(? AS INTEGER) FROM RDB$DATABASE", rows())
    with firearrow.connect(database) as other:
        assert works(other)

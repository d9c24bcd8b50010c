"""Forked processes, subinterpreters, and the end of the interpreter."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Any

import pytest
from busy import busy
from forking import in_child
from programs import script
from statements import MANY

import firearrow


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork processes: it has no os.fork")
def test_forked_processes(connection: firearrow.Connection, database: str, table: str) -> None:
    """The child is refused in clear words and sends nothing; the parent goes on."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    cursor = connection.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")
    transaction = connection.begin()
    transaction.execute("SELECT 1 FROM RDB$DATABASE")
    uses: list[Callable[[], Any]] = [
        lambda: connection.execute("SELECT 1 FROM RDB$DATABASE"),
        lambda: connection.executemany(f"INSERT INTO {table} VALUES (?)", [(1,)]),
        connection.commit,
        connection.rollback,
        connection.ping,
        connection.close,
        cursor.fetchall,
        transaction.commit,
    ]
    for use in uses:
        told = in_child(use)
        assert "belongs to the process that opened it" in told, told
    assert in_child(lambda: (cursor.close(), gc.collect(), "ok")[2]) == "ok"
    assert len(cursor.fetchall()) > 100
    assert connection.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (1,)
    transaction.rollback()
    connection.commit()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork processes: it has no os.fork")
def test_a_fork_while_another_thread_executes(connection: firearrow.Connection) -> None:
    """What that thread had locked stays locked in the child, which has no such thread."""
    cursor = connection.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")
    with busy(connection, "execute"):
        uses: list[Callable[[], Any]] = [
            lambda: connection.execute("SELECT 1 FROM RDB$DATABASE"),
            connection.rollback,
            connection.commit,
            connection.close,
            cursor.fetchall,
        ]
        for use in uses:
            told = in_child(use)
            assert "belongs to the process that opened it" in told, told
        assert "open" in in_child(lambda: repr(connection))
        assert in_child(lambda: (cursor.close(), "ok")[1]) == "ok"
    with busy(connection, "cursor") as (fetching, _):
        assert in_child(lambda: (fetching.close(), repr(fetching), "ok")[2]) == "ok"


def test_a_forked_child_that_exits_normally(database: str) -> None:
    """Its finalisers leave the parent's connection alone."""
    done = script(
        database,
        """
        import os, sys, firearrow
        connection = firearrow.connect(sys.argv[1])
        cursor = connection.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS")
        cursor.fetchone()
        child = os.fork()
        if child == 0:
            del cursor, connection
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(len(cursor.fetchall()) > 100)
        connection.close()
        """,
        "-W",
        "ignore::ResourceWarning",
    )
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


def test_subinterpreters_are_refused(database: str) -> None:
    """The extension module says so, instead of crashing."""
    done = script(
        database,
        """
        import sys, firearrow
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        own = interpreters.create()
        code = f"import sys; sys.path[:] = {sys.path!r}\\nimport firearrow"
        try:
            found = interpreters.run_string(own, code)
        except Exception as error:
            found = error
        print(type(found).__name__, found)
        firearrow.connect(sys.argv[1]).close()
        """,
    )
    assert done.returncode == 0, done.stderr
    assert "subinterpreters" in done.stdout, done.stdout


@pytest.mark.parametrize(
    "ending",
    [
        "pass",
        "del connection",
        "sys.exit(0)",
        "cursor.holder = cursor; connection._holder = connection",
        "sys.modules['kept'] = cursor",
        "threading.Thread(target=cursor.fetchall, daemon=True).start(); time.sleep(0.2)",
        "atexit.register(cursor.fetchone)",
        "stream = connection.execute(query).__arrow_c_stream__()",
    ],
)
def test_exit_of_the_interpreter(database: str, ending: str) -> None:
    """Nothing crashes or hangs at the end, whatever is open; what is open is told."""
    done = script(
        database,
        f"""
        import atexit, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        transaction = connection.begin()
        query = {MANY!r}
        cursor = transaction.execute(query)
        assert cursor.fetchone() is not None
        print("ready", flush=True)
        {ending}
        """,
        timeout=30,
    )
    assert done.stdout == "ready\n", done.stderr
    assert done.returncode == 0, done.stderr
    for word in ("Fatal", "Segmentation", "panicked", "AttributeError", "TypeError"):
        assert word not in done.stderr, done.stderr


def test_an_exit_that_leaves_nothing(database: str) -> None:
    """A program that closes what it opens ends without a word."""
    done = script(
        database,
        """
        import sys, firearrow
        with firearrow.connect(sys.argv[1]) as connection:
            with connection.begin() as transaction, transaction.cursor() as cursor:
                cursor.execute("SELECT RDB$FIELD_NAME FROM RDB$FIELDS").fetchone()
            connection.execute("SELECT 1 FROM RDB$DATABASE")
        """,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

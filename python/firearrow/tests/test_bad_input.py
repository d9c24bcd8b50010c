"""What programs do wrong: closed objects, forks, garbage, threads, Ctrl+C, time limits."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import firearrow

# It would take hours.
LONG = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"
# Its first rows come at once, the last one never.
MANY = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"


def works(connection: firearrow.Connection) -> bool:
    return connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]


def script(database: str, code: str, *options: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with warnings as errors and the checks of development mode."""
    command = [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", *options]
    return subprocess.run(
        [*command, "-c", textwrap.dedent(code), database],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def ascii_id(value: object) -> str:
    return repr(value)[:30] if isinstance(value, float) or value == -1 else "huge"


# SQL


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("SELECT '\ud800' FROM RDB$DATABASE", "lone surrogate"),
        ("SELECT 1 FROM RDB$DATABASE\0", "NUL"),
        ("\0", "NUL"),
        ("SELECT " + "(" * 200 + "1" + ")" * 199 + " FROM RDB$DATABASE", ""),
        ("SELECT '" + "x" * 100_000 + "' FROM RDB$DATABASE", ""),
        ("SELECT 'open FROM RDB$DATABASE", ""),
        ("/* open", ""),
        ("?", ""),
        (":", ""),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_sql_that_is_none(connection: firearrow.Connection, sql: str, words: str) -> None:
    with pytest.raises(firearrow.Error) as caught:
        connection.execute(sql)
    assert words in str(caught.value)
    with pytest.raises(firearrow.Error):
        connection.executemany(sql, [(1,)])
    with pytest.raises(firearrow.Error):
        connection.execute(sql, {"name": 1})
    assert works(connection)


@pytest.mark.parametrize("sql", [None, 5, b"SELECT 1 FROM RDB$DATABASE", ["SELECT 1"]], ids=repr)
def test_sql_of_the_wrong_class(connection: firearrow.Connection, sql: Any) -> None:
    with pytest.raises((TypeError, AttributeError, firearrow.Error)):
        connection.execute(sql)
    with pytest.raises((TypeError, AttributeError, firearrow.Error)):
        connection.executemany(sql, [])
    assert works(connection)


# Closed objects


def closed_uses(connection: firearrow.Connection, cursor: firearrow.Cursor) -> dict[str, Callable[[], Any]]:
    query = "SELECT 1 FROM RDB$DATABASE"
    return {
        "execute": lambda: cursor.execute(query),
        "executemany": lambda: cursor.executemany(query, [()]),
        "callproc": lambda: cursor.callproc("x"),
        "fetchone": cursor.fetchone,
        "fetchmany": cursor.fetchmany,
        "fetchall": cursor.fetchall,
        "iteration": lambda: list(cursor),
        "arrow": cursor.fetch_arrow_table,
        "stream": cursor.__arrow_c_stream__,
        "plan": lambda: cursor.plan,
        "wire_stats": lambda: cursor.wire_stats,
    }


def test_closed_cursors(connection: firearrow.Connection) -> None:
    """They say that they are closed, and can be closed again."""
    cursor = connection.execute(MANY)
    cursor.fetchone()
    cursor.close()
    cursor.close()
    for name, use in closed_uses(connection, cursor).items():
        with pytest.raises(firearrow.InterfaceError, match="cursor is closed"):
            use()
            pytest.fail(name)
    assert cursor.description is None
    assert cursor.rowcount == -1
    assert works(connection)
    with connection.cursor() as cursor:
        cursor.execute(MANY)
    with pytest.raises(firearrow.InterfaceError):
        cursor.fetchone()


def test_closed_connections(database: str) -> None:
    """Everything of a closed connection says so; closing and asking whether it is closed go on working."""
    connection = firearrow.connect(database)
    cursor = connection.execute(MANY)
    transaction = connection.begin()
    connection.close()
    connection.close()
    uses = closed_uses(connection, cursor)
    uses |= {
        "commit": connection.commit,
        "rollback": connection.rollback,
        "cursor": connection.cursor,
        "begin": connection.begin,
        "ping": connection.ping,
        "reset": connection.reset,
        "set_timeouts": connection.set_timeouts,
        "drop": connection.drop_database,
        "info": lambda: connection.info,
        "stats": lambda: connection.wire_stats,
        "warnings": lambda: connection.warnings,
        "savepoint": lambda: connection.savepoint().__enter__(),
        "transaction": transaction.commit,
        "transaction.execute": lambda: transaction.execute("SELECT 1 FROM RDB$DATABASE"),
    }
    for name, use in uses.items():
        with pytest.raises(firearrow.InterfaceError, match="closed"):
            use()
            pytest.fail(name)
    cursor.close()
    connection.cancel()
    assert connection.closed
    assert not connection.is_alive
    assert cursor.rowcount == -1
    with connection:
        pass


# Processes


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
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


def in_child(work: Callable[[], Any]) -> str:
    """Return what `work` returns or raises in a forked process."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of threads; the child only runs `work`.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            told = str(work())
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writer, told.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        told = answer.read().decode()
    os.waitpid(child, 0)
    return told


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


# Garbage


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
        holder.connection.holder = holder
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


@pytest.mark.parametrize(
    "ending",
    [
        "pass",
        "del connection",
        "sys.exit(0)",
        "cursor.holder = cursor; connection.holder = connection",
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


# Ctrl+C


@pytest.mark.parametrize(
    "call",
    [
        f"connection.execute({LONG!r}).fetchall()",
        f"connection.execute({MANY!r}).fetchall()",
        f"list(connection.execute({MANY!r}))",
        "connection.executemany('EXECUTE PROCEDURE busy(?)', ((n,) for n in range(10**9)))",
    ],
    ids=["execute", "fetchall", "iteration", "executemany"],
)
def test_keyboard_interrupt(database: str, call: str) -> None:
    """Ctrl+C ends a call within 2 s, as KeyboardInterrupt, and the connection is usable."""
    done = script(
        database,
        f"""
        import os, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("CREATE OR ALTER PROCEDURE busy (n INTEGER) AS BEGIN END")
        connection.commit()
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.7, interrupt).start()
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0] < 2)
        connection.rollback()
        print(connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall())
        connection.close()
        """,
    )
    assert done.stdout.split("\n") == ["interrupted True", "[(1,)]", ""], done.stderr
    assert (done.returncode, done.stderr) == (0, "")


def test_keyboard_interrupt_of_a_wait_for_a_lock(database: str, is_wire: bool) -> None:
    """Servers do not interrupt such a wait: after 2 s the connection is ended, and says so."""
    done = script(
        database,
        """
        import os, signal, sys, threading, time, firearrow
        connection, other = firearrow.connect(sys.argv[1]), firearrow.connect(sys.argv[1])
        connection.execute("RECREATE TABLE busy_table (id INTEGER)")
        connection.commit()
        connection.execute("INSERT INTO busy_table VALUES (1)")
        connection.commit()
        connection.execute("UPDATE busy_table SET id = 3")
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.7, interrupt).start()
        try:
            other.execute("UPDATE busy_table SET id = 2")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0] < 4)
        try:
            other.rollback()
            print(other.execute("SELECT 1 FROM RDB$DATABASE").fetchall())
        except firearrow.OperationalError as error:
            print("ended", other.is_alive)
        other.close()
        connection.rollback()
        print(connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall())
        connection.close()
        """,
    )
    second = "ended False" if is_wire else "[(1,)]"
    assert done.stdout.split("\n") == ["interrupted True", second, "[(1,)]", ""], done.stderr
    assert (done.returncode, done.stderr) == (0, "")


def test_signals_that_raise_nothing(database: str) -> None:
    """A handler of the program's own runs, and the call goes on or is told."""
    done = script(
        database,
        f"""
        import os, signal, sys, threading, firearrow
        seen = []
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        connection = firearrow.connect(sys.argv[1])
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        try:
            connection.execute({LONG!r}, timeout=1).fetchall()
        except firearrow.OperationalError as error:
            print(error.kind, seen)
        connection.close()
        """,
    )
    assert (done.returncode, done.stdout) == (0, "Timeout [1]\n"), done.stderr


# Time limits and cancelling


@pytest.mark.parametrize("sql", [LONG, MANY], ids=["execute", "fetch"])
def test_timeout(connection: firearrow.Connection, sql: str) -> None:
    """The statement ends in time, fetching included, as an OperationalError; the connection goes on."""
    started = time.monotonic()
    with pytest.raises(firearrow.OperationalError) as caught:
        connection.execute(sql, timeout=0.5).fetchall()
    assert 0.4 < time.monotonic() - started < 2.5
    assert caught.value.kind == "Timeout"
    assert caught.value.sqlstate in ("HYT00", "HY008")
    assert works(connection)


def test_timeouts_that_do_not_strike(connection: firearrow.Connection) -> None:
    for _ in range(3):
        assert connection.execute("SELECT 1 FROM RDB$DATABASE", timeout=60).fetchall() == [(1,)]


@pytest.mark.parametrize("seconds", [-1, -0.001, float("nan"), float("inf"), 1e300, 10**400], ids=ascii_id)
def test_timeouts_that_are_none(
    connection: firearrow.Connection, database: str, seconds: Any, version: int
) -> None:
    """Times that are none are errors of the program, in the classes of PEP 249."""
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute("SELECT 1 FROM RDB$DATABASE", timeout=seconds)
    with pytest.raises(firearrow.ProgrammingError):
        connection.begin(lock_timeout=seconds)
    with pytest.raises(firearrow.ProgrammingError):
        connection.set_timeouts(statement=seconds)
    with pytest.raises(firearrow.InterfaceError, match="connect_timeout"):
        firearrow.connect(database, connect_timeout=seconds)
    with connection.events("nothing") as events, pytest.raises(firearrow.ProgrammingError):
        events.wait(seconds)
    assert works(connection)


@pytest.mark.parametrize(
    "options",
    [
        {"parallel": -1},
        {"parallel": 2**100},
        {"read": {"blobs": "sometimes"}},
        {"read": {"max_blob": -1}},
        {"read": {"nothing": 1}},
    ],
    ids=repr,
)
def test_options_of_executions(connection: firearrow.Connection, options: Any) -> None:
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute("SELECT 1 FROM RDB$DATABASE", **options)
    assert works(connection)


def test_numbers_out_of_range(connection: firearrow.Connection, table: str) -> None:
    for number in (-1, 2**64, 10**5000):
        with pytest.raises(firearrow.ProgrammingError, match="out of range"):
            connection.begin(snapshot=number)
        with pytest.raises(firearrow.ProgrammingError, match="out of range"):
            connection.open_blob(number)
    with pytest.raises(firearrow.ProgrammingError, match="out of range"):
        connection.cursor().ingest(object(), table, text=-1)
    with pytest.raises(firearrow.ProgrammingError):
        connection.begin(isolation="nothing")
    assert works(connection)


@pytest.mark.parametrize("option", ["timeout", "parallel", "read"])
def test_options_of_the_wrong_class(connection: firearrow.Connection, option: str) -> None:
    with pytest.raises(TypeError):
        connection.execute("SELECT 1 FROM RDB$DATABASE", **{option: "soon"})
    assert works(connection)


def test_timeouts_of_the_session(connection: firearrow.Connection, version: int) -> None:
    if version < 4:
        with pytest.raises(firearrow.NotSupportedError, match="Firebird 4"):
            connection.set_timeouts(statement=0.3)
        return
    connection.set_timeouts(statement=0.3)
    with pytest.raises(firearrow.OperationalError) as caught:
        connection.execute(LONG).fetchall()
    assert caught.value.kind == "Timeout"
    connection.set_timeouts()
    started = time.monotonic()
    with pytest.raises(firearrow.OperationalError):
        connection.execute(LONG, timeout=1).fetchall()
    assert time.monotonic() - started > 0.8, "the session's limit is still there"
    assert works(connection)


@pytest.mark.parametrize("sql", [LONG, MANY], ids=["execute", "fetch"])
def test_cancel_from_another_thread(connection: firearrow.Connection, sql: str) -> None:
    timer = threading.Timer(0.5, connection.cancel)
    timer.start()
    started = time.monotonic()
    with pytest.raises(firearrow.OperationalError) as caught:
        connection.execute(sql).fetchall()
    assert time.monotonic() - started < 2.5
    assert caught.value.kind == "Cancelled"
    timer.join()
    assert works(connection)


@pytest.mark.parametrize("fetch", ["fetchall", "fetch_arrow_table"])
def test_cancelling_between_two_batches(connection: firearrow.Connection, fetch: str) -> None:
    """Most of the time nothing is asked of the server: values become Python objects."""
    for delay in (0.05, 0.11, 0.17, 0.23):
        timer = threading.Timer(delay, connection.cancel)
        timer.start()
        started = time.monotonic()
        with pytest.raises(firearrow.OperationalError) as caught:
            getattr(connection.execute(MANY), fetch)()
        assert (caught.value.kind, time.monotonic() - started < 2.5) == ("Cancelled", True)
        timer.join()
        assert works(connection)


def test_signals_of_a_loop_are_passed_on(database: str) -> None:
    """A blocking call within a coroutine: the handlers of the loop run after it."""
    done = script(
        database,
        f"""
        import asyncio, os, signal, sys, threading, firearrow
        connection = firearrow.connect(sys.argv[1])
        told = []
        async def work():
            stop = asyncio.Event()
            def handler():
                told.append("told")
                stop.set()
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, handler)
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
            try:
                connection.execute({LONG!r}, timeout=1).fetchone()
            except firearrow.OperationalError:
                pass
            await asyncio.wait_for(stop.wait(), 5)
        asyncio.run(work())
        print(told)
        connection.close()
        """,
        timeout=40,
    )
    assert (done.stdout, done.returncode) == ("['told']\n", 0), done.stdout + done.stderr


WITHIN_A_FETCH = {
    "close": "cursor.close()",
    "fetch": "cursor.fetchone()",
    "execute": "cursor.execute('SELECT 1 FROM RDB$DATABASE')",
    "repr": "told.append('in use' if 'so far' not in repr(cursor) else repr(cursor))",
}


@pytest.mark.parametrize("call", WITHIN_A_FETCH.values(), ids=WITHIN_A_FETCH)
def test_a_signal_handler_uses_the_cursor_that_fetches(database: str, call: str) -> None:
    """It runs in the thread that fetches, and must not wait for itself."""
    done = script(
        database,
        f"""
        import os, signal, sys, threading, firearrow
        connection = firearrow.connect(sys.argv[1])
        cursor = connection.execute({MANY!r})
        told = []
        def handler(*_):
            try:
                {call}
            except firearrow.ProgrammingError as error:
                told.append("in use" if "in use" in str(error) else str(error))
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, handler)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            cursor.fetchall()
        except KeyboardInterrupt:
            print(told)
        connection.close()
        """,
        timeout=40,
    )
    assert (done.stdout, done.returncode) == ("['in use']\n", 0), done.stdout + done.stderr


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


def test_cancelling_nothing(connection: firearrow.Connection) -> None:
    """It does not hit the statement that comes next."""
    for _ in range(20):
        connection.cancel()
        assert works(connection)


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
        f"""
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
        query = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?"
        other.rollback()
        left = other.execute(query, (number,)).fetchone()[0]
        deadline = time.monotonic() + 10
        while left and time.monotonic() < deadline:
            time.sleep(0.1)
            other.rollback()
            left = other.execute(query, (number,)).fetchone()[0]
        print(left)
        other.close()
        """,
        timeout=40,
    )
    assert done.stdout.startswith("True False True ['the connection "), done.stdout + done.stderr
    assert "closed" in done.stdout
    assert done.stdout.endswith("\n0\n"), done.stdout
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
        f"""
        import os, signal, sys, threading, time, firearrow
        def watch(number):
            with firearrow.connect(sys.argv[1]) as other:
                query = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID = ?"
                deadline = time.monotonic() + 10
                while other.execute(query, (number,)).fetchone()[0]:
                    assert time.monotonic() < deadline, "it stays"
                    other.rollback()
                    time.sleep(0.05)
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


# Threads


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


def test_the_first_error_counts(database: str) -> None:
    """An error that leaves the block of a connection is not replaced by one of closing it."""
    with pytest.raises(RuntimeError, match="first"), firearrow.connect(database) as connection:
        connection.execute("SELECT 1 FROM RDB$DATABASE")
        connection._core.close()
        raise RuntimeError("first")

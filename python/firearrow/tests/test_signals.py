"""Ctrl+C and other signals during calls."""

from __future__ import annotations

import pytest
from programs import script
from statements import LONG, MANY


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


def test_keyboard_interrupt_at_the_beginning_of_a_call(database: str) -> None:
    """Before the call has waited for so long that signals are listened to."""
    done = script(
        database,
        f"""
        import os, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
        for pause in (0.0, 0.005, 0.02):
            sent = []
            def interrupt():
                time.sleep(pause)
                sent.append(time.monotonic())
                # To this thread, so that no system call of the other one ends early.
                signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            thread = threading.Thread(target=interrupt)
            try:
                thread.start()
                connection.execute({LONG!r}).fetchall()
            except KeyboardInterrupt:
                pass
            thread.join()
            print("interrupted", time.monotonic() - sent[0] < 2)
            connection.rollback()
        print(connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall())
        connection.close()
        """,
    )
    assert done.stdout.split("\n") == ["interrupted True"] * 3 + ["[(1,)]", ""], done.stderr
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


def test_keyboard_interrupt_of_a_stream_of_arrow_data(database: str) -> None:
    """What its Python code raises goes through Arrow, which makes another error of it."""
    pytest.importorskip("pyarrow")
    done = script(
        database,
        """
        import os, signal, sys, time, firearrow, pyarrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("RECREATE TABLE arrow_interrupted (n INTEGER)")
        connection.commit()
        schema = pyarrow.schema([("N", pyarrow.int32())])
        def batches():
            for number in range(3):
                yield pyarrow.record_batch([pyarrow.array([number], pyarrow.int32())], schema)
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.5)
        try:
            stream = pyarrow.RecordBatchReader.from_batches(schema, batches())
            connection.executemany("INSERT INTO arrow_interrupted VALUES (?)", stream)
        except BaseException as error:
            print(type(error).__name__)
        connection.close()
        """,
        timeout=40,
    )
    assert (done.stdout, done.returncode) == ("KeyboardInterrupt\n", 0), done.stdout + done.stderr


def test_an_interrupted_exit_closes_every_connection(database: str) -> None:
    """A handler that raises while the first one is closed."""
    done = script(
        database,
        """
        import os, signal, sys, warnings, firearrow, firearrow._exit
        warnings.simplefilter("ignore", ResourceWarning)
        left = [firearrow.connect(sys.argv[1]) for _ in range(3)]
        class Core:
            is_open = True
            def __init__(self, core):
                self.core = core
            def close(self):
                self.is_open = False
                self.core.close()
                raise KeyboardInterrupt
        for connection in left:
            firearrow._exit._open.add(connection)
            connection._core = Core(connection._core)
        try:
            firearrow._exit._close()
        except KeyboardInterrupt:
            print([connection.closed for connection in left])
        """,
    )
    assert done.stdout == "[True, True, True]\n", done.stdout + done.stderr


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


def test_a_handler_of_an_event_loop_runs_once(database: str) -> None:
    """Also for a signal that has come before the call listened, which hears of it once more."""
    done = script(
        database,
        f"""
        import asyncio, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
        async def work(pause):
            heard = []
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, lambda: heard.append(1))
            main = threading.get_ident()
            def interrupt():
                time.sleep(pause)
                signal.pthread_kill(main, signal.SIGINT)
            thread = threading.Thread(target=interrupt)
            thread.start()
            try:
                connection.execute({LONG!r}, timeout=1).fetchall()
            except firearrow.OperationalError:
                pass
            thread.join()
            await asyncio.sleep(0.2)
            connection.rollback()
            return len(heard)
        print([asyncio.run(work(pause)) for pause in (0.0, 0.005, 0.02, 0.3)])
        connection.close()
        """,
    )
    assert done.stdout == "[1, 1, 1, 1]\n", done.stderr


def test_keyboard_interrupt_while_another_thread_fetches(database: str) -> None:
    done = script(
        database,
        f"""
        import os, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        cursor = connection.cursor().execute({MANY!r})
        def fetch():
            try:
                cursor.fetchall()
            except firearrow.OperationalError:
                print("cancelled")
        thread = threading.Thread(target=fetch)
        thread.start()
        time.sleep(0.5)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        try:
            cursor.fetchone()
        except KeyboardInterrupt:
            print("interrupted", thread.is_alive())
        connection.cancel()
        thread.join()
        connection.close()
        """,
    )
    assert (done.stdout, done.stderr) == ("interrupted True\ncancelled\n", "")

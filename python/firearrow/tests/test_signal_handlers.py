"""Signals while calls wait: within other calls, with other users of signals, and in forked processes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator

import pytest

import firearrow


def script(database: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with the checks of development mode."""
    code = textwrap.dedent(code)
    return subprocess.run(
        [
            sys.executable,
            "-X",
            "dev",
            "-W",
            "ignore::DeprecationWarning",
            "-c",
            textwrap.dedent(code),
            database,
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# A table into which a row goes only after a long time.
SLOW = """
        import os, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("RECREATE TABLE slow (a INTEGER)")
        connection.commit()
        connection.execute('''
            CREATE TRIGGER slow_insert FOR slow BEFORE INSERT AS
            DECLARE n BIGINT = 0;
            BEGIN
              WHILE (n < 300000000) DO n = n + 1;
            END
        ''')
        connection.commit()
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(1, interrupt).start()
"""


def test_ctrl_c_after_a_call_within_a_call(database: str) -> None:
    """Rows of a stream may come from other queries, after which the insertion still listens."""
    pytest.importorskip("pyarrow")
    done = script(
        database,
        SLOW
        + """
        import pyarrow
        other = firearrow.connect(sys.argv[1])
        schema = pyarrow.schema([("A", pyarrow.int32())])
        def rows():
            other.execute("SELECT 1 FROM RDB$DATABASE").fetchone()
            yield pyarrow.record_batch([pyarrow.array([1], pyarrow.int32())], schema=schema)
        reader = pyarrow.RecordBatchReader.from_batches(schema, rows())
        try:
            connection.cursor().ingest(reader, "SLOW")
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0] < 3)
        connection.rollback()
        print(connection.execute("SELECT COUNT(*) FROM slow").fetchall())
        connection.close()
        other.close()
        """,
    )
    assert (done.stdout, done.returncode) == ("interrupted True\n[(0,)]\n", 0), done.stderr


def test_ctrl_c_in_a_call_within_a_call(database: str) -> None:
    """It ends both, and both say KeyboardInterrupt."""
    pytest.importorskip("pyarrow")
    done = script(
        database,
        SLOW
        + """
        import pyarrow
        other = firearrow.connect(sys.argv[1])
        schema = pyarrow.schema([("A", pyarrow.int32())])
        def rows():
            try:
                other.execute("INSERT INTO slow VALUES (1)")
            except KeyboardInterrupt:
                print("inner")
                raise
            yield pyarrow.record_batch([pyarrow.array([1], pyarrow.int32())], schema=schema)
        reader = pyarrow.RecordBatchReader.from_batches(schema, rows())
        connection.execute("CREATE OR ALTER PROCEDURE slow_target (n INTEGER) AS BEGIN END")
        connection.commit()
        try:
            connection.cursor().executemany("EXECUTE PROCEDURE slow_target(?)", reader)
        except KeyboardInterrupt:
            print("outer", time.monotonic() - sent[0] < 3)
        connection.rollback()
        other.rollback()
        print(connection.execute("SELECT COUNT(*) FROM slow").fetchall())
        connection.close()
        other.close()
        """,
    )
    assert (done.stdout, done.returncode) == ("inner\nouter True\n[(0,)]\n", 0), done.stderr


@pytest.fixture
def wakeup() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A pair of sockets, into the second of which Python writes signals."""
    ear, bell = socket.socketpair()
    for end in (ear, bell):
        end.setblocking(False)
    before = signal.set_wakeup_fd(bell.fileno())
    try:
        yield ear, bell
    finally:
        signal.set_wakeup_fd(before)
        ear.close()
        bell.close()


def test_a_closed_place_for_signals(
    connection: firearrow.Connection, wakeup: tuple[socket.socket, socket.socket]
) -> None:
    """Whoever closed it without saying so does not make queries fail, nor those that listen to signals."""
    wakeup[1].close()
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]
    # Only a call that waits for longer than 50 ms listens: a fast machine counts to a million within that.
    connection.execute("EXECUTE BLOCK AS DECLARE n INT = 0; BEGIN WHILE (n < 10000000) DO n = n + 1; END")
    assert signal.set_wakeup_fd(-1) == -1


def test_the_place_for_signals_stays(
    connection: firearrow.Connection, wakeup: tuple[socket.socket, socket.socket]
) -> None:
    """Signals go where they went before, after calls that succeed and calls that fail."""
    connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    with pytest.raises(firearrow.ProgrammingError):
        connection.execute("SELECT nothing")
    assert signal.set_wakeup_fd(wakeup[1].fileno()) == wakeup[1].fileno()


def test_a_signal_before_the_wait(database: str) -> None:
    """One that Python has noticed, but not handled, is not forgotten when a call begins to wait."""
    done = script(
        database,
        SLOW
        + """
        def handler(*_):
            signal.signal(signal.SIGINT, signal.default_int_handler)
            # Noticed here; handlers run when this one has ended, or when a call asks for them.
            os.kill(os.getpid(), signal.SIGINT)
        signal.signal(signal.SIGINT, handler)
        try:
            connection.execute("INSERT INTO slow VALUES (1)")
        except (KeyboardInterrupt, firearrow.OperationalError) as error:
            print(time.monotonic() - sent[0] < 3)
        connection.rollback()
        connection.close()
        """,
    )
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


def test_a_signal_for_a_forked_process(database: str) -> None:
    """It does not end the call that the parent's main thread was waiting in when another thread forked."""
    done = script(
        database,
        SLOW
        + """
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # for the timer's
        time.sleep(1.2)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        told = []
        def fork():
            child = os.fork()
            if child == 0:
                try:
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(5)
                    os._exit(1)
                except KeyboardInterrupt:
                    os._exit(7)
            told.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            time.sleep(1)
            told.append("waits")
            connection.cancel()
        threading.Timer(0.5, fork).start()
        try:
            connection.execute("INSERT INTO slow VALUES (1)")
        except firearrow.OperationalError:
            print(told)
        connection.rollback()
        connection.close()
        """,
    )
    assert (done.stdout, done.returncode) == ("[7, 'waits']\n", 0), done.stderr


def test_ctrl_c_in_a_forked_process(database: str, is_wire: bool) -> None:
    """The thread that forked is the child's main thread, whatever it was before."""
    if not is_wire:
        pytest.skip("an engine in this process does not survive a fork")
    done = script(
        database,
        """
        import os, signal, sys, threading, time, firearrow
        LONG = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"
        def work():
            with firearrow.connect(sys.argv[1]) as connection:
                connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
            child = os.fork()
            if child == 0:
                own = firearrow.connect(sys.argv[1])
                threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
                begin = time.monotonic()
                try:
                    own.execute(LONG).fetchall()
                except KeyboardInterrupt:
                    os._exit(7 if time.monotonic() - begin < 3 else 8)
                os._exit(9)
            deadline = time.monotonic() + 15
            while not (ended := os.waitpid(child, os.WNOHANG))[0]:
                if time.monotonic() > deadline:
                    os.kill(child, signal.SIGKILL)
                time.sleep(0.05)
            print(os.waitstatus_to_exitcode(ended[1]))
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        """,
    )
    assert (done.stdout, done.returncode) == ("7\n", 0), done.stderr

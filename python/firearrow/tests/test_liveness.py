"""Whether a connection answers within a time limit."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import suppress

import pytest
from busy import busy
from programs import script
from proxy import Proxy

import firearrow
import firearrow.aio

LONG = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"


def test_a_ping_in_time(connection: firearrow.Connection) -> None:
    """Its limit hits no statement that comes later."""
    for _ in range(20):
        connection._core.ping(0.01)
        connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    time.sleep(0.02)
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]


def test_a_ping_that_takes_too_long(connection: firearrow.Connection) -> None:
    """It ends alone: what another thread runs goes on."""
    ended: list[str] = []

    def run() -> None:
        with pytest.raises(firearrow.OperationalError, match="cancel"):
            connection.cursor().execute(LONG).fetchall()
        ended.append("cancelled")

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    begin = time.monotonic()
    with pytest.raises(firearrow.OperationalError, match="time limit"):
        connection._core.ping(0.3)
    assert time.monotonic() - begin < 2
    time.sleep(0.3)
    assert thread.is_alive() and not ended
    while thread.is_alive():
        connection.cancel()
        thread.join(0.1)
    assert ended == ["cancelled"]
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_limits_that_are_none(connection: firearrow.Connection, seconds: float) -> None:
    with pytest.raises(firearrow.ProgrammingError, match="invalid time limit"):
        connection._core.ping(seconds)


def test_what_is_known_needs_no_wait(connection: firearrow.Connection) -> None:
    """While another thread executes in its transaction."""
    with busy(connection):
        begin = time.monotonic()
        assert "open, in a transaction" in repr(connection)
        assert not connection.closed and connection.is_alive
        assert time.monotonic() - begin < 1


def test_a_release_does_not_wait_for_a_statement_of_another_thread(database: str) -> None:
    """It is cancelled when the pool has waited for a while."""
    with firearrow.Pool(database, max_size=1, acquire_timeout=20) as pool:
        connection = pool.acquire()
        with busy(connection):
            begin = time.monotonic()
            assert pool._is_to_clean(connection, connection._member)  # type: ignore[arg-type]
            assert time.monotonic() - begin < 1
        connection.close()


@pytest.mark.parametrize("use", ["ping", "timeout"])
def test_limits_hold_while_what_was_dropped_waits(connection: firearrow.Connection, use: str) -> None:
    """Ending a transaction that was dropped waits until the connection is free."""
    connection.autocommit = True
    dropped = [connection.begin()]
    dropped[0].execute("SELECT 1 FROM RDB$DATABASE").fetchall()
    with busy(connection) as (_, thread):
        dropped.clear()
        time.sleep(0.2)
        begin = time.monotonic()
        with pytest.raises(firearrow.OperationalError) as raised:
            if use == "ping":
                connection._core.ping(0.3)
            else:
                connection.execute("SELECT 1 FROM RDB$DATABASE", timeout=0.3)
        assert raised.value.kind == "Timeout"
        assert time.monotonic() - begin < 4 and thread.is_alive()
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall() == [(1,)]


CALLS = {
    "execute": "connection.execute('SELECT 2 FROM RDB$DATABASE')",
    "rollback": "connection.rollback()",
    "commit": "connection.commit()",
    "begin": "connection.begin().execute('SELECT 1 FROM RDB$DATABASE')",
}


@pytest.mark.parametrize("drops", [False, True])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_keyboard_interrupt_while_another_thread_executes(database: str, call: str, drops: bool) -> None:
    """In the same transaction; also behind a transaction that was dropped. Nothing that was done is lost."""
    done = script(
        database,
        f"""
        import os, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        begun = connection.begin()
        begun.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
        connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
        def run():
            try:
                connection.execute({LONG!r}).fetchall()
            except firearrow.Error as error:
                print(error.kind)
        thread = threading.Thread(target=run)
        thread.start()
        time.sleep(0.5)
        if {drops}:
            del begun
            time.sleep(0.2)
        sent = []
        def interrupt():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, interrupt).start()
        try:
            {call}
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0] < 2, thread.is_alive())
        while thread.is_alive():
            connection.cancel()
            thread.join(0.1)
        connection.rollback()
        print(connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall())
        connection.close()
        """,
        timeout=40,
    )
    assert done.stdout.split("\n") == ["interrupted True True", "Cancelled", "[(1,)]", ""], done.stderr


def silent(proxy: Proxy, code: str) -> str:
    """What a program prints after the server has fallen silent, which waits for its first line."""
    command = [sys.executable, "-c", textwrap.dedent(code), proxy.url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdin and program.stdout
        assert program.stdout.readline() == "ready\n"
        proxy.freeze()
        return program.communicate("go on\n", timeout=40)[0]


@pytest.mark.parametrize("use", ["close", "rollback", "dropped"])
def test_leaving_a_server_that_is_silent(proxy: Proxy, use: str) -> None:
    """With a transaction that is open. It has a few seconds; Ctrl+C ends the wait of a rollback."""
    done = silent(
        proxy,
        f"""
        import os, signal, sys, threading, time, firearrow
        connection = firearrow.connect(sys.argv[1])
        connection.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
        begun = connection.begin()
        begun.execute("SELECT 1 FROM RDB$DATABASE").fetchall()
        print("ready", flush=True)
        sys.stdin.readline()
        if {use!r} == "rollback":
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        if {use!r} == "dropped":
            del begun
            time.sleep(0.2)
        begin = time.monotonic()
        try:
            connection.rollback() if {use!r} == "rollback" else connection.close()
        except (firearrow.Error, KeyboardInterrupt) as error:
            print(type(error).__name__)
        print(time.monotonic() - begin < 15)
        os._exit(0)
        """,
    )
    assert done.endswith("True\n"), done
    assert use != "rollback" or done.startswith("KeyboardInterrupt"), done


@pytest.mark.parametrize("use", ["close", "rollback"])
def test_leaving_a_server_that_is_silent_in_a_task(proxy: Proxy, use: str) -> None:
    async def work() -> float:
        connection = await firearrow.aio.connect(proxy.url)
        await (await connection.execute("SELECT 1 FROM RDB$DATABASE")).fetchall()
        proxy.freeze()
        begin = time.monotonic()
        with suppress(firearrow.Error, asyncio.TimeoutError):
            if use == "close":
                await connection.close()
            else:
                await asyncio.wait_for(connection.rollback(), 1)
        took = time.monotonic() - begin
        with suppress(firearrow.Error):
            await connection.close()
        return took

    assert asyncio.run(asyncio.wait_for(work(), 60)) < 15

"""Time limits of statements, and cancelling from another thread."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from statements import LONG, MANY, works

import firearrow


def ascii_id(value: object) -> str:
    return repr(value)[:30] if isinstance(value, float) or value == -1 else "huge"


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


def test_cancelling_nothing(connection: firearrow.Connection) -> None:
    """It does not hit the statement that comes next."""
    for _ in range(20):
        connection.cancel()
        assert works(connection)

"""Whether a connection answers within a time limit."""

from __future__ import annotations

import threading
import time

import pytest

import firearrow

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
    with pytest.raises(firearrow.ProgrammingError, match="no time limit"):
        connection._core.ping(seconds)

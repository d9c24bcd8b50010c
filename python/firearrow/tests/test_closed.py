"""Cursors and connections that are closed, and what a failed block leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from statements import MANY, works

import firearrow


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
    with pytest.raises(firearrow.InterfaceError, match="the connection is closed"), connection:
        pass


def test_the_first_error_counts(database: str) -> None:
    """An error that leaves the block of a connection is not replaced by one of closing it."""
    with pytest.raises(RuntimeError, match="first"), firearrow.connect(database) as connection:
        connection.execute("SELECT 1 FROM RDB$DATABASE")
        connection._core.close()
        raise RuntimeError("first")

"""Statements that many tests execute, and what they find."""

from __future__ import annotations

from typing import Any

import firearrow

ONE = "SELECT 1 FROM RDB$DATABASE"
ME = "SELECT CURRENT_CONNECTION FROM RDB$DATABASE"
# It would take hours.
LONG = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"
# Its first rows come at once, the last one never.
MANY = "SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e"
# They change the session, and tell whether it was changed.
SET = "SELECT RDB$SET_CONTEXT('USER_SESSION', 'WHO', 'me') FROM RDB$DATABASE"
GET = "SELECT RDB$GET_CONTEXT('USER_SESSION', 'WHO') FROM RDB$DATABASE"


def works(connection: firearrow.Connection) -> bool:
    """Whether the connection still answers."""
    return connection.execute(ONE).fetchall() == [(1,)]


def values(connection: firearrow.Connection, table: str) -> list[Any]:
    """The committed values of the column N."""
    rows = connection.execute(f"SELECT n FROM {table} ORDER BY n").fetchall()
    connection.commit()
    return [value for (value,) in rows]


def stored(other: firearrow.Connection, table: str, columns: str = "*") -> list[tuple[object, ...]]:
    """What a second connection sees, and so what is committed."""
    other.rollback()
    rows: list[tuple[object, ...]] = other.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
    return rows


def attachment(connection: firearrow.Connection) -> int:
    """The number of the connection on its server."""
    return int(connection.execute(ME).fetchone()[0])


def left_open(connection: firearrow.Connection) -> int:
    """How many transactions other connections have open."""
    (number,) = connection.execute(
        "SELECT COUNT(*) FROM MON$TRANSACTIONS t JOIN MON$ATTACHMENTS a USING (MON$ATTACHMENT_ID) "
        "WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION AND a.MON$SYSTEM_FLAG = 0 AND t.MON$STATE = 1"
    ).fetchone()
    connection.commit()
    return int(number)

"""Firebird by ADBC as PEP 249 has it, and Arrow: ``fetch_arrow``, ``fetch_arrow_table``, ``adbc_ingest``."""

import typing
import warnings

import adbc_driver_manager
import adbc_driver_manager.dbapi
from adbc_driver_manager.dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Connection,
    Cursor,
    DatabaseError,
    DataError,
    Date,
    DateFromTicks,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    Warning,
    apilevel,
    paramstyle,
    threadsafety,
)

import adbc_driver_firebird

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]


def connect(
    uri: str,
    db_kwargs: dict[str, str] | None = None,
    conn_kwargs: dict[str, str] | None = None,
    *,
    autocommit: bool = False,
    **kwargs: typing.Any,
) -> Connection:
    """Connect to a database.

    What should be known about the connection although it works (that it is not encrypted, what the server
    warned of) is a :class:`RuntimeWarning`.

    Parameters
    ----------
    uri
        Where it is; see :func:`adbc_driver_firebird.connect`.
    db_kwargs
        Options of the database, see :class:`adbc_driver_firebird.DatabaseOptions`.
    conn_kwargs
        Options of the connection, see :class:`adbc_driver_firebird.ConnectionOptions`.
    autocommit
        Whether every statement is a transaction of its own. As PEP 249 wants it, that is not so by default:
        call ``commit()``.
    """
    database = None
    connection = None
    try:
        database = adbc_driver_firebird.connect(uri, db_kwargs)
        connection = adbc_driver_manager.AdbcConnection(database, **(conn_kwargs or {}))
        for text in connection.get_option("adbc.firebird.warnings").splitlines():
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        return Connection(database, connection, conn_kwargs=conn_kwargs, autocommit=autocommit, **kwargs)
    except Exception:
        if connection:
            connection.close()
        if database:
            database.close()
        raise

"""The PEP 249 interface to Firebird through ADBC.

Arrow data go through ``fetch_arrow``, ``fetch_arrow_table`` and ``adbc_ingest``.
"""

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

    If a connection works but has a problem (it is not encrypted, or the server sent warnings), this function
    issues a :class:`RuntimeWarning`.

    Parameters
    ----------
    uri
        Where the database is; see :func:`adbc_driver_firebird.connect`.
    db_kwargs
        Database options, see :class:`adbc_driver_firebird.DatabaseOptions`.
    conn_kwargs
        Connection options, see :class:`adbc_driver_firebird.ConnectionOptions`.
    autocommit
        Whether every statement is a separate transaction. As PEP 249 requires, the default is no: call
        ``commit()``.
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

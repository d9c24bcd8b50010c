"""Firebird at Arrow speed: :pep:`249` and Arrow for Firebird 3, 4 and 5, over the wire or in-process.

>>> import firearrow
>>> with firearrow.connect("firebird://SYSDBA@localhost/employee", password="masterkey") as connection:
...     for country, currency in connection.execute("SELECT country, currency FROM country"):
...         print(country, currency)
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from ._core import __version__
from .adapters import register_adapter
from .connection import Connection, connect, create_database
from .cursor import Cursor
from .errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from .partitions import Partitions, read_partition
from .rows import RowFactory, class_row, dict_row, model_row, namedtuple_row, tuple_row
from .transaction import LimboTransaction, Transaction
from .types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Column,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

if TYPE_CHECKING:
    from .pool import Pool, PoolClosed, PooledConnection, PoolStats, PoolTimeout
    from .retrying import retry

# Many programs need none of these, and import them faster without.
_later = {
    "Pool": "pool",
    "PoolClosed": "pool",
    "PoolStats": "pool",
    "PoolTimeout": "pool",
    "PooledConnection": "pool",
    "retry": "retrying",
}


# Type checkers would take it for the attributes that there are not.
if not TYPE_CHECKING:

    def __getattr__(name):
        if name in _later:
            found = getattr(_import_module(f".{_later[name]}", __name__), name)
            globals()[name] = found
            return found
        if name in ("catalog", "pool", "retrying"):
            return _import_module(f".{name}", __name__)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_later})


# Messages and tracebacks name what users import, not the file that it is in.
for _public in list(vars().values()):
    if getattr(_public, "__module__", "").startswith("firearrow."):
        _public.__module__ = "firearrow"

apilevel = "2.0"
threadsafety = 2
"""Threads may share the module and connections."""
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Column",
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
    "LimboTransaction",
    "NotSupportedError",
    "OperationalError",
    "Partitions",
    "Pool",
    "PoolClosed",
    "PoolStats",
    "PoolTimeout",
    "PooledConnection",
    "ProgrammingError",
    "RowFactory",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Transaction",
    "Warning",
    "__version__",
    "apilevel",
    "class_row",
    "connect",
    "create_database",
    "dict_row",
    "model_row",
    "namedtuple_row",
    "paramstyle",
    "read_partition",
    "register_adapter",
    "retry",
    "threadsafety",
    "tuple_row",
]

"""The same surface for asyncio: what waits is awaited, and nothing blocks the event loop.

>>> from firearrow import aio
>>> async with aio.connect("firebird://SYSDBA@localhost/employee", password="masterkey") as connection:
...     cursor = await connection.execute("SELECT country, currency FROM country")
...     async for country, currency in cursor:
...         print(country, currency)

Short calls run in the event loop's own thread, without waiting; long ones (large results, bulk writes) in a
few background threads, and those of the embedded engine in a thread each. A task that is cancelled interrupts
the server, and its connection can be used again, or is closed: see ``Connection.is_alive``. Calls of one
connection take turns; concurrent queries need one connection each.

Types, errors, row factories and adapters are those of :mod:`firearrow`.
"""

from .connection import Connection, connect, create_database
from .cursor import Cursor
from .partitions import Partitions, read_partition
from .pool import Pool, PooledConnection
from .retrying import retry
from .transaction import Transaction

# As in firearrow itself.
for _public in list(vars().values()):
    if getattr(_public, "__module__", "").startswith("firearrow.aio."):
        _public.__module__ = "firearrow.aio"

__all__ = [
    "Connection",
    "Cursor",
    "Partitions",
    "Pool",
    "PooledConnection",
    "Transaction",
    "connect",
    "create_database",
    "read_partition",
    "retry",
]

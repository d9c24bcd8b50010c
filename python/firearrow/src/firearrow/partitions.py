"""Queries in parts, which threads, processes or machines read from one snapshot.

>>> with connection.read_partitions("SELECT * FROM sales", n=4) as parts:
...     with ThreadPoolExecutor() as pool:
...         tables = list(pool.map(read, parts.descriptors))

with a function such as

>>> def read(descriptor):
...     with firearrow.read_partition(descriptor, url) as part:
...         return part.fetch_arrow_table()
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _core
from ._base import library
from .errors import InterfaceError

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["Part", "Partitions", "read_partition"]


class Partitions:
    """The parts of a query; it holds the snapshot that they read, until it is closed.

    Attributes
    ----------
    descriptors : list of bytes
        A part each, in the order of the table: for :func:`read_partition`, here or in another process. They
        name no server and no password, but have the query's SQL and parameters.
    why_plain : str or None
        Why there is one part only.
    """

    def __init__(self, core: _core.Partitions) -> None:
        self._core = core
        self.descriptors = core.descriptors()
        self.why_plain = core.why_plain

    def __arrow_c_schema__(self) -> object:
        """Tell an Arrow consumer the columns of every part: ``pyarrow.schema(parts)``."""
        return self._core.schema()

    def close(self) -> None:
        """Let the snapshot go: parts that are not being read yet cannot be read any more."""
        self._core.close()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.descriptors)

    def __len__(self) -> int:
        return len(self.descriptors)

    def __enter__(self) -> Partitions:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Part:
    """A part of a query that is read, once, as Arrow data: whatever takes Arrow streams takes it."""

    def __init__(self, connection: Connection, descriptor: bytes, *, owns: bool) -> None:
        self._connection = connection
        self._owns = owns
        self._stream: object = connection._core.read_partition(descriptor)
        connection._lend_rows(None)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the rows that are left to an Arrow consumer."""
        if self._stream is None:
            raise InterfaceError("the part is closed")
        return self._stream

    def fetch_arrow_table(self) -> Any:
        """Return the rows as a ``pyarrow.Table``."""
        return library("pyarrow").table(self)

    def fetch_arrow_batches(self) -> Any:
        """Return the rows as a ``pyarrow.RecordBatchReader``, which fetches rows as you read it."""
        return library("pyarrow").RecordBatchReader.from_stream(self)

    def fetch_polars(self) -> Any:
        """Return the rows as a ``polars.DataFrame``."""
        return library("polars").DataFrame(self)

    def close(self) -> None:
        """Let rows go that nobody has taken; close the connection if it was opened for this part alone."""
        self._stream = None
        if self._owns:
            self._connection.close()

    def __enter__(self) -> Part:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_partition(descriptor: bytes, database: str, **options: Any) -> Part:
    """Read a part of a query with a connection of its own, which closes with it.

    Parameters
    ----------
    descriptor
        One of :attr:`Partitions.descriptors`.
    database, **options
        As for :func:`firearrow.connect`: the database of the query.

    Raises
    ------
    InterfaceError
        The descriptor is not valid, or of a query that has been closed, or of another database.
    """
    from .connection import connect

    connection = connect(database, **options)
    try:
        return Part(connection, descriptor, owns=True)
    except BaseException:
        connection.close()
        raise

"""Queries in parts, which tasks, processes or machines read from one snapshot.

>>> async with connection.read_partitions("SELECT * FROM sales", n=4) as parts:
...     tables = await asyncio.gather(*map(read, parts.descriptors))

with a function such as

>>> async def read(descriptor):
...     async with aio.read_partition(descriptor, url) as part:
...         return await part.fetch_arrow_table()
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from .. import _core
from .._base import library
from ..errors import InterfaceError
from ._opening import Opening

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["Part", "Partitions", "read_partition"]


class Partitions:
    """The parts of a query; it holds the snapshot that they read, until it is closed.

    Attributes
    ----------
    descriptors : list of bytes
        A part each, in the order of the table; see :class:`firearrow.Partitions`.
    why_plain : str or None
        Why there is one part only.
    closed : bool
        Whether it was closed.
    """

    def __init__(self, core: _core.AioPartitions) -> None:
        self._core = core
        self.descriptors = core.descriptors()
        self.why_plain = core.why_plain
        self.closed = False

    def __arrow_c_schema__(self) -> object:
        """Tell an Arrow consumer the columns of every part: ``pyarrow.schema(parts)``."""
        return self._core.schema()

    async def close(self) -> None:
        """Let the snapshot go: parts that are not being read yet cannot be read any more."""
        self.closed = True
        await self._core.close()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.descriptors)

    def __len__(self) -> int:
        return len(self.descriptors)

    async def __aenter__(self) -> Partitions:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Part:
    """A part of a query that is read, once, as Arrow data.

    Attributes
    ----------
    closed : bool
        Whether it was closed.
    """

    def __init__(self, core: _core.AioPart, owned: Connection | None) -> None:
        self._core = core
        self._owned = owned
        self.closed = False

    async def fetch_arrow_table(self) -> Any:
        """Return the remaining rows as a ``pyarrow.Table``."""
        pyarrow = library("pyarrow")
        return pyarrow.table(await self._batches())

    async def fetch_arrow_batches(self) -> AsyncGenerator[Any]:
        """Yield the remaining rows as ``pyarrow.RecordBatch``: ``async for batch in …``."""
        pyarrow = library("pyarrow")
        while len(batches := await self._batches(1)):
            for batch in pyarrow.RecordBatchReader.from_stream(batches):
                yield batch

    async def fetch_polars(self) -> Any:
        """Return the remaining rows as a ``polars.DataFrame``."""
        polars = library("polars")
        return polars.DataFrame(await self._batches())

    async def close(self) -> None:
        """Let rows go that nobody has taken; close the connection if it was opened for this part alone."""
        if not self.closed:
            self.closed = True
            await self._core.close()
            if self._owned is not None:
                await self._owned.close()

    async def _batches(self, most: int | None = None) -> _core.Batches:
        if self.closed:
            raise InterfaceError("the part is closed")
        return await self._core.batches(most)

    async def __aenter__(self) -> Part:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


Opened = TypeVar("Opened", Partitions, Part)


def read_partition(descriptor: bytes, database: str, **options: Any) -> Opening[Part]:
    """Read a part of a query with a connection of its own, which closes with it.

    To be awaited, or entered with ``async with``. Takes what :func:`firearrow.read_partition` takes, and
    raises the same errors.
    """
    from .connection import connect

    connecting = connect(database, **options)

    async def begin() -> Part:
        connection = await connecting
        try:
            return Part(await _core.AioPart.open(connection._core, descriptor), connection)
        except BaseException:
            await connection.close()
            raise

    return Opening(begin)


def divide(
    connection: Connection, sql: str, n: int, parameters: object, without_snapshot: bool
) -> Opening[Partitions]:
    """Divide a query of this connection."""

    async def begin() -> Partitions:
        connection._check()
        core = _core.AioPartitions.open(connection._core, sql, parameters, n, without_snapshot)
        opened = Partitions(await core)
        return await _adopted(connection, opened)

    return Opening(begin)


def part(connection: Connection, descriptor: bytes) -> Opening[Part]:
    """Read a part with this connection."""

    async def begin() -> Part:
        connection._check()
        return await _adopted(connection, Part(await _core.AioPart.open(connection._core, descriptor), None))

    return Opening(begin)


async def _adopted(connection: Connection, opened: Opened) -> Opened:
    try:
        # Another task may have closed it, or given it back to its pool.
        connection._check()
    except InterfaceError:
        await opened.close()
        raise
    return connection._adopt(opened)

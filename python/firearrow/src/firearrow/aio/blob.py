"""BLOBs as files, for those too large to hold in memory.

>>> async with transaction.open_blob(number) as blob:
...     while piece := await blob.read(65536):
...         await response.write(piece)

``read={"blobs": "lazy"}`` of ``execute`` makes a query return the ids of BLOBs instead of their contents.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from .. import _core
from ..blob import BlobId
from ..errors import InterfaceError
from ._opening import Opening

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

    from .connection import Connection

__all__ = ["BlobReader", "BlobWriter", "create_blob", "open_blob"]


class BlobReader:
    """A BLOB that is read in pieces. It ends with its transaction; text is UTF-8.

    A task that is cancelled loses no bytes: the next ``read`` returns them.

    Attributes
    ----------
    length : int
        Stored bytes. Text that is converted to UTF-8 may have more or fewer.
    closed : bool
        Whether it was closed.
    """

    def __init__(self, core: _core.AioBlobReader) -> None:
        self._core = core
        self.length = core.length
        self.closed = False

    def readable(self) -> bool:
        """Whether it can be read: yes."""
        return True

    def writable(self) -> bool:
        """Whether it can be written: no."""
        return False

    def seekable(self) -> bool:
        """Whether it can be positioned: if it was written as a stream."""
        return self._core.is_stream

    async def read(self, size: int | None = -1, /) -> bytes:
        """Return up to ``size`` bytes, fewer only at the end; all that are left without it."""
        self._check()
        most = None if size is None or size < 0 else size
        while (data := self._core.take(most)) is None:
            await self._core.fill(most)
        return data

    async def readall(self) -> bytes:
        """Return all bytes that are left."""
        return await self.read()

    async def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer; return the number of bytes."""
        view = memoryview(buffer).cast("B")
        data = await self.read(len(view))
        view[: len(data)] = data
        return len(data)

    async def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to a byte; return its number."""
        self._check()
        return await self._core.seek(offset, whence)

    async def tell(self) -> int:
        """Return the number of the next byte."""
        return await self.seek(0, 1)

    async def close(self) -> None:
        """Free it. Closing again does nothing."""
        if not self.closed:
            self.closed = True
            await self._core.close()

    def _check(self) -> None:
        if self.closed:
            raise InterfaceError("the BLOB is closed")

    async def __aenter__(self) -> BlobReader:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class BlobWriter:
    """A new BLOB that is written in pieces, text in UTF-8.

    >>> async with transaction.create_blob() as blob:
    ...     async for piece in request.stream():
    ...         await blob.write(piece)
    >>> await transaction.execute("UPDATE staff SET photo = ? WHERE id = 1", (blob.id,))

    Leaving the block completes it, unless by an error. One row of the same transaction takes its id. If a
    write is cancelled, nobody knows how many of its bytes are there: then the BLOB cannot be completed.

    Attributes
    ----------
    closed : bool
        Whether it was closed.
    """

    def __init__(self, core: _core.AioBlobWriter) -> None:
        self._core = core
        self._id: BlobId | None = None
        self._is_broken = False
        self.closed = False

    @property
    def id(self) -> BlobId:
        """What a row takes as the value of a BLOB column, once the BLOB is complete."""
        if self._id is None:
            raise InterfaceError("the BLOB is not complete: call finish() first")
        return self._id

    def readable(self) -> bool:
        """Whether it can be read: no."""
        return False

    def writable(self) -> bool:
        """Whether it can be written: yes."""
        return True

    def seekable(self) -> bool:
        """Whether it can be positioned: no."""
        return False

    async def write(self, data: ReadableBuffer, /) -> int:
        """Append bytes; return their number."""
        if self.closed or self._id is not None:
            raise InterfaceError("the BLOB is closed")
        self._check()
        raw = bytes(data)
        try:
            await self._core.write(raw)
        except BaseException:
            self._is_broken = True
            raise
        return len(raw)

    async def finish(self) -> BlobId:
        """Complete it, and return its id."""
        if self._id is None:
            self._check()
            self._id = BlobId(await self._core.finish())
        return self._id

    async def close(self) -> None:
        """Discard it, unless it is complete."""
        if not self.closed:
            self.closed = True
            await self._core.close()

    def _check(self) -> None:
        if self._is_broken:
            raise InterfaceError(
                "the BLOB may lack bytes, because a write failed or was cancelled: create another one"
            )

    async def __aenter__(self) -> BlobWriter:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and not self.closed:
                await self.finish()
        finally:
            await self.close()


def open_blob(connection: Connection, transaction: _core.AioTransaction, number: int) -> Opening[BlobReader]:
    """Open a BLOB by its id."""

    async def begin() -> BlobReader:
        return connection._adopt(BlobReader(await _core.AioBlobReader.open(transaction, number)))

    return Opening(begin)


def create_blob(connection: Connection, transaction: _core.AioTransaction) -> Opening[BlobWriter]:
    """Create a BLOB."""

    async def begin() -> BlobWriter:
        return connection._adopt(BlobWriter(await _core.AioBlobWriter.create(transaction)))

    return Opening(begin)

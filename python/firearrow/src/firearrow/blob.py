"""BLOBs as files, for those that are too large for memory.

>>> with transaction.open_blob(number) as blob:
...     shutil.copyfileobj(blob, file)

``read={"blobs": "lazy"}`` of ``execute`` makes a query return the ids of BLOBs instead of their contents.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from . import _core
from .errors import InterfaceError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

__all__ = ["BlobReader", "BlobWriter"]


class BlobReader(io.RawIOBase):
    """A BLOB that is read in pieces, until its transaction ends. Text is UTF-8.

    Attributes
    ----------
    length : int
        Stored bytes. Text that is converted to UTF-8 may have more or fewer.
    """

    def __init__(self, core: _core.BlobReader) -> None:
        self._core = core
        self.length = core.length

    def readable(self) -> bool:
        """Return ``True``."""
        return True

    def seekable(self) -> bool:
        """Return whether it can be positioned: only BLOBs that were written as streams can."""
        return self._core.is_stream

    def read(self, size: int | None = -1, /) -> bytes:
        """Return up to ``size`` bytes, fewer only at the end; without ``size``, all remaining ones."""
        self._check()
        return self._core.read(None if size is None or size < 0 else size)

    def readall(self) -> bytes:
        """Return all remaining bytes."""
        return self.read()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Fill a buffer; return the number of bytes."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Move to a byte; return its number."""
        self._check()
        return self._core.seek(offset, whence)

    def tell(self) -> int:
        """Return the number of the next byte."""
        return self.seek(0, 1)

    def close(self) -> None:
        """Free it. Closing again does nothing."""
        if not self.closed:
            self._core.close()
        super().close()

    def __del__(self) -> None:
        # The base class would close it, and the garbage collector must not wait for a server.
        pass

    def _check(self) -> None:
        if self.closed:
            raise InterfaceError("the BLOB is closed")


class BlobWriter(io.RawIOBase):
    """A new BLOB that is written in pieces, text in UTF-8.

    >>> with transaction.create_blob() as blob:
    ...     shutil.copyfileobj(file, blob)
    >>> transaction.execute("UPDATE staff SET photo = ? WHERE id = 1", (blob.id,))

    Leaving the block completes it, unless by an error. One row of the same transaction takes its id.
    """

    def __init__(self, core: _core.BlobWriter) -> None:
        self._core = core
        self._id: BlobId | None = None

    @property
    def id(self) -> BlobId:
        """The value for the BLOB column of a row, once the BLOB is complete."""
        if self._id is None:
            raise InterfaceError("the BLOB is not complete: call finish() first")
        return self._id

    def writable(self) -> bool:
        """Return ``True``."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Append bytes; return their number."""
        if self.closed or self._id is not None:
            raise InterfaceError("the BLOB is closed")
        raw = bytes(data)
        self._core.write(raw)
        return len(raw)

    def finish(self) -> BlobId:
        """Complete it, and return its id."""
        if self._id is None:
            self._id = BlobId(self._core.finish())
        return self._id

    def close(self) -> None:
        """Discard it, unless it is complete."""
        if not self.closed:
            self._core.close()
        super().close()

    def __exit__(self, *error: object) -> None:
        if error[0] is None and not self.closed:
            self.finish()
        self.close()

    def __del__(self) -> None:
        # As with BlobReader.
        pass


class BlobId(int):
    """The id of a BLOB that was written, as a parameter."""

    def __repr__(self) -> str:
        return f"<firearrow.BlobId {int(self):#x}>"

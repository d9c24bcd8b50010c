"""Transactions of their own, beside that of the connection."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base import TransactionBase
from ..errors import InterfaceError
from ..rows import chosen
from ._opening import Opening
from .blob import BlobReader, BlobWriter, create_blob, open_blob

if TYPE_CHECKING:
    from ..rows import RowFactory
    from .connection import Connection  # noqa: F401 # in the bases of the class
    from .cursor import Cursor

__all__ = ["Transaction"]

_numbers = itertools.count(1)


class Transaction(TransactionBase[_core.AioTransaction, "Connection"]):
    """A transaction; a connection can have several at a time.

    As an asynchronous context manager it commits at the end, and rolls back if an error leaves the block,
    unless it was prepared:

    >>> async with connection.begin(isolation="snapshot", read_only=True) as transaction:
    ...     cursor = await transaction.execute("SELECT COUNT(*) FROM country")
    """

    def cursor(
        self,
        *,
        row_factory: RowFactory | None = None,
        model: type | None = None,
        scrollable: bool = False,
    ) -> Cursor:
        """Return a cursor whose statements belong to this transaction; see :meth:`Connection.cursor`."""
        from .cursor import Cursor

        self._connection._check()
        factory = chosen(row_factory, model)
        return Cursor(self._connection, transaction=self, row_factory=factory, scrollable=scrollable)

    async def execute(self, sql: str, parameters: object = None, **options: Any) -> Cursor:
        """Execute a statement with a new cursor, which is returned; see :meth:`Cursor.execute`."""
        return await self.cursor().execute(sql, parameters, **options)

    async def executemany(self, sql: str, rows: object, **options: Any) -> Cursor:
        """Execute a statement for many rows with a new cursor; see :meth:`Cursor.executemany`."""
        return await self.cursor().executemany(sql, rows, **options)

    def open_blob(self, number: int) -> Opening[BlobReader]:
        """Open a BLOB by its id, as a file that is read: to be awaited, or entered with ``async with``."""
        return open_blob(self._connection, self._core, number)

    def create_blob(self) -> Opening[BlobWriter]:
        """Create a BLOB, as a file that is written: to be awaited, or entered with ``async with``."""
        return create_blob(self._connection, self._core)

    async def prepare_commit(self, message: str | bytes = "") -> None:
        """First phase of a two-phase commit; see :meth:`firearrow.Transaction.prepare_commit`.

        If the task is cancelled, it may or may not be prepared.
        """
        text = message.encode() if isinstance(message, str) else bytes(message)
        with self._preparing():
            await self._core.prepare_commit(text)

    async def commit(self, *, retaining: bool = False) -> None:
        """Make the changes permanent, and end. If the task is cancelled, they may or may not be.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.
        """
        self._was_ended = not retaining
        await (self._core.commit_retaining() if retaining else self._core.commit())
        self._note_decided()

    async def rollback(self, *, retaining: bool = False) -> None:
        """Undo the changes, and end.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.
        """
        self._was_ended = not retaining
        await (self._core.rollback_retaining() if retaining else self._core.rollback())
        self._note_decided()

    @property
    async def number(self) -> int:
        """The transaction's number in the engine, to be awaited."""
        return await self._core.number()

    @property
    async def snapshot_number(self) -> int:
        """The number of its snapshot (Firebird 4 and newer), to be awaited, for ``begin(snapshot=…)``."""
        return await self._core.snapshot_number()

    @asynccontextmanager
    async def savepoint(self, name: str | None = None) -> AsyncGenerator[str]:
        """A part that is undone alone if an error leaves the block.

        Parameters
        ----------
        name
            The savepoint's name; by default one is generated.
        """
        async with savepoint(self._core, name) as made:
            yield made

    async def __aenter__(self) -> Transaction:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_open:
            self._check_ended(error)
            return
        if error is None:
            await self.commit()
            return
        if self._is_prepared:
            return
        # If the connection is closed, the original error is the one worth reporting.
        with suppress(InterfaceError):
            await self.rollback()


@asynccontextmanager
async def savepoint(core: _core.AioTransaction, name: str | None) -> AsyncGenerator[str]:
    """A savepoint around a block."""
    name = name or f"FIREARROW_{next(_numbers)}"
    await core.savepoint(name)
    try:
        yield name
    except BaseException:
        if core.is_open:
            await core.rollback_to_savepoint(name)
        raise
    if core.is_open:
        await core.release_savepoint(name)

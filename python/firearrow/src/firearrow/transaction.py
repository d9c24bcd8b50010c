"""Transactions beside the connection's own."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._base import TransactionBase
from .blob import BlobReader, BlobWriter
from .errors import InterfaceError
from .rows import chosen

if TYPE_CHECKING:
    from .connection import Connection  # noqa: F401 # the base class names it
    from .cursor import Cursor
    from .rows import RowFactory

__all__ = ["LimboTransaction", "Transaction"]

_numbers = itertools.count(1)


class LimboTransaction(NamedTuple):
    """A transaction in limbo that no connection holds."""

    number: int
    """Which :meth:`Connection.recover` takes."""
    message: bytes
    """What ``prepare_commit`` was given; empty for none."""


class Transaction(TransactionBase[_core.Transaction, "Connection"]):
    """A transaction; a connection can have several at a time.

    As a context manager it commits at the end, and rolls back if an error leaves the block,
    unless it was prepared:

    >>> with connection.begin(isolation="snapshot", read_only=True) as transaction:
    ...     transaction.execute("SELECT COUNT(*) FROM country").fetchone()
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

    def execute(self, sql: str, parameters: object = None, **options: Any) -> Cursor:
        """Execute a statement with a new cursor, which is returned; see :meth:`Cursor.execute`."""
        return self.cursor().execute(sql, parameters, **options)

    def executemany(self, sql: str, rows: object, **options: Any) -> Cursor:
        """Execute a statement for many rows with a new cursor; see :meth:`Cursor.executemany`."""
        return self.cursor().executemany(sql, rows, **options)

    def open_blob(self, number: int) -> BlobReader:
        """Open a BLOB by its id, as a file to read."""
        return self._connection._adopt(BlobReader(_core.BlobReader(self._core, number)))

    def create_blob(self) -> BlobWriter:
        """Create a BLOB, as a file to write."""
        return self._connection._adopt(BlobWriter(_core.BlobWriter(self._core)))

    def prepare_commit(self, message: str | bytes = "") -> None:
        """First phase of a two-phase commit: make sure that the changes can be committed, whatever happens.

        From here on the transaction is *in limbo*: nothing is possible but ``commit``, which nothing in the
        data can make fail any more, and ``rollback``. If the connection ends before, the transaction stays in limbo, and
        :meth:`Connection.recover` takes it over: note its ``number`` first. An error that leaves a ``with``
        block decides nothing, either. Keep the transaction: only its connection's end lets others decide.
        A pool closes a connection that comes back with one.

        Parameters
        ----------
        message
            For whoever has to decide; see :meth:`Connection.limbo_transactions`.
        """
        text = message.encode() if isinstance(message, str) else bytes(message)
        with self._preparing():
            self._core.prepare_commit(text)

    def commit(self, *, retaining: bool = False) -> None:
        """Make the changes permanent, and end.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.
        """
        self._was_ended = not retaining
        self._core.commit_retaining() if retaining else self._core.commit()
        self._note_decided()

    def rollback(self, *, retaining: bool = False) -> None:
        """Undo the changes, and end.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.
        """
        self._was_ended = not retaining
        self._core.rollback_retaining() if retaining else self._core.rollback()
        self._note_decided()

    @property
    def number(self) -> int:
        """The transaction's number in the engine."""
        return self._core.number()

    @property
    def snapshot_number(self) -> int:
        """The number of its snapshot (Firebird 4 and newer), which ``begin(snapshot=…)`` takes."""
        return self._core.snapshot_number()

    @contextmanager
    def savepoint(self, name: str | None = None) -> Generator[str]:
        """Undo the block, and not the whole transaction, if an error leaves it.

        Parameters
        ----------
        name
            The savepoint's name; by default one is generated.
        """
        with savepoint(self._core, name) as made:
            yield made

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.is_open:
            self._check_ended(error)
            return
        if error is None:
            self.commit()
            return
        if self._is_prepared:
            return
        # If the connection is closed, the original error is the one worth reporting.
        with suppress(InterfaceError):
            self.rollback()


@contextmanager
def savepoint(core: _core.Transaction, name: str | None) -> Generator[str]:
    """A savepoint around a block."""
    name = name or f"FIREARROW_{next(_numbers)}"
    core.savepoint(name)
    try:
        yield name
    except BaseException:
        if core.is_open:
            core.rollback_to_savepoint(name)
        raise
    if core.is_open:
        core.release_savepoint(name)

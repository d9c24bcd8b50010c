"""Connections."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any

from .. import _core, errors
from .._base import ConnectionBase, event_names
from .._request import Request, check_switch
from ..rows import RowFactory, chosen
from ..transaction import LimboTransaction
from ._loop import running_loop
from ._opening import Opening
from .blob import BlobReader, BlobWriter, create_blob, open_blob
from .catalog import Catalog
from .cursor import Cursor
from .events import Listening
from .partitions import Part, Partitions, divide, part
from .transaction import Transaction, savepoint

__all__ = ["Connecting", "Connection", "connect", "create_database"]


def connect(
    database: str | os.PathLike[str] | None = None,
    *,
    user: str | None = None,
    password: str | None = None,
    host: str | None = None,
    port: int | None = None,
    role: str | None = None,
    autocommit: bool = False,
    isolation: str | None = None,
    read_only: bool = False,
    lock_timeout: float | None = None,
    row_factory: RowFactory | None = None,
    **options: Any,
) -> Connecting:
    """Connect to a database: ``connection = await connect(…)``, or ``async with connect(…) as connection``.

    Takes what :func:`firearrow.connect` takes, and raises the same errors.
    """
    return Connecting(
        Request(
            False,
            database,
            user=user,
            password=password,
            host=host,
            port=port,
            role=role,
            autocommit=autocommit,
            isolation=isolation,
            read_only=read_only,
            lock_timeout=lock_timeout,
            row_factory=row_factory,
            **options,
        )
    )


def create_database(database: str | os.PathLike[str], **options: Any) -> Connecting:
    """Create a database and connect to it; takes what :func:`firearrow.create_database` takes."""
    return Connecting(Request(True, database, **options))


class Connecting(Opening["Connection"]):
    """A connection that is being opened: to be awaited, or entered with ``async with``."""

    def __init__(self, request: Request) -> None:
        super().__init__(self._open)
        self._request = request

    async def _open(self) -> Connection:
        running_loop()
        request = self._request
        core = await _core.AioConnection.open(request.database, request.options, request.create)
        connection = Connection(core, autocommit=request.autocommit, row_factory=request.row_factory)
        request.prepare(connection)
        return connection


class Connection(ConnectionBase[_core.AioConnection, _core.AioTransaction]):
    """A connection and its transaction: from the first statement to commit or rollback.

    As an asynchronous context manager it commits at the end of the block, rolls back if an error leaves it,
    and closes.
    """

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own; :meth:`set_autocommit` changes it."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        check_switch("autocommit", value)
        if value and self._main is not None and self._main.is_open:
            raise errors.ProgrammingError(
                "switching autocommit on commits, which has to be awaited: await set_autocommit(True)"
            )
        self._autocommit = value

    async def set_autocommit(self, value: bool) -> None:
        """Set whether each statement is a transaction of its own. Switching it on commits."""
        check_switch("autocommit", value)
        if value and not self._autocommit:
            await self.commit()
        self._autocommit = value

    @property
    async def info(self) -> dict[str, Any]:
        """The server and the database, to be awaited: versions, protocol, cipher, page size, user …"""
        return await self._core.info()

    def cursor(
        self,
        *,
        row_factory: RowFactory | None = None,
        model: type | None = None,
        scrollable: bool = False,
    ) -> Cursor:
        """Return a cursor of the connection's transaction.

        Parameters
        ----------
        row_factory, model
            What its rows become; see :func:`model_row`.
        scrollable
            Whether the rows of queries can be fetched in any order; see :meth:`Cursor.scroll`.
        """
        self._check()
        return Cursor(self, row_factory=chosen(row_factory, model), scrollable=scrollable)

    async def execute(self, sql: str, parameters: object = None, **options: Any) -> Cursor:
        """Execute a statement with a new cursor, which is returned; see :meth:`Cursor.execute`."""
        return await self.cursor().execute(sql, parameters, **options)

    async def executemany(self, sql: str, rows: object, **options: Any) -> Cursor:
        """Execute a statement for many rows with a new cursor; see :meth:`Cursor.executemany`."""
        return await self.cursor().executemany(sql, rows, **options)

    def begin(
        self,
        *,
        isolation: str | None = None,
        read_only: bool | None = None,
        lock_timeout: float | None = None,
        snapshot: int | None = None,
    ) -> Transaction:
        """Start a separate transaction; the server learns of it with the first statement.

        Takes what :meth:`firearrow.Connection.begin` takes.
        """
        self._check()
        return Transaction(self, self._begin_core(isolation, read_only, lock_timeout, snapshot))

    async def limbo_transactions(self) -> list[LimboTransaction]:
        """Return the transactions in limbo; see :meth:`firearrow.Connection.limbo_transactions`."""
        self._check()
        return [LimboTransaction(**found) for found in await self._core.catalog("limbo_transactions")]

    async def recover(self, number: int) -> Transaction:
        """Take over a transaction in limbo; see :meth:`firearrow.Connection.recover`."""
        self._check()
        taken = Transaction(self, await self._core.recover(number))
        taken._note_prepared()
        return taken

    @property
    def catalog(self) -> Catalog:
        """Tables and what belongs to them."""
        self._check()
        return Catalog(self)

    def events(self, *names: str) -> Listening:
        """Listen for events of these names: ``async for counts in connection.events("new_order")``.

        Or ``async with connection.events(…) as events``, or ``events = await connection.events(…)``: from
        then on. Waiting holds up no other use of the connection.
        """
        self._check()
        return Listening(self, event_names(names))

    def read_partitions(
        self, sql: str, n: int = 0, *, parameters: object = None, without_snapshot: bool = False
    ) -> Opening[Partitions]:
        """Divide a query of one large table into parts that several connections read, from one snapshot.

        To be awaited, or entered with ``async with``. Takes what :meth:`firearrow.Connection.read_partitions`
        takes.
        """
        self._check()
        return divide(self, sql, n, parameters, without_snapshot)

    def read_partition(self, descriptor: bytes) -> Opening[Part]:
        """Read a part of a query with this connection; see :func:`firearrow.aio.read_partition`.

        To be awaited, or entered with ``async with``.
        """
        self._check()
        return part(self, descriptor)

    def open_blob(self, number: int) -> Opening[BlobReader]:
        """Open a BLOB of the connection's transaction by its id, as a file that is read.

        To be awaited, or entered with ``async with``.
        """
        return open_blob(self, self._blob_place(), number)

    def create_blob(self) -> Opening[BlobWriter]:
        """Create a BLOB in the connection's transaction, as a file that is written.

        To be awaited, or entered with ``async with``.
        """
        return create_blob(self, self._blob_place())

    async def commit(self, *, retaining: bool = False) -> None:
        """Make the changes of the connection's transaction permanent. Without one, nothing happens.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.

        If it fails or is cancelled, the transaction is gone. Then statements and another ``commit`` are
        refused until ``rollback`` is called, so that nobody takes changes for permanent that are not.

        Raises
        ------
        Error
            The commit has failed.
        ProgrammingError
            An earlier one has (its ``kind`` is ``CommitFailed``).
        """
        if (main := self._take_main(retaining=retaining, commits=True)) is not None:
            try:
                await (main.commit_retaining() if retaining else main.commit())
            except BaseException as error:
                self._note_commit(main, error)
                raise

    async def rollback(self, *, retaining: bool = False) -> None:
        """Undo the changes of the connection's transaction. Without one, nothing happens.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.
        """
        if (main := self._take_main(retaining=retaining)) is not None:
            await (main.rollback_retaining() if retaining else main.rollback())

    @asynccontextmanager
    async def savepoint(self, name: str | None = None) -> AsyncGenerator[str]:
        """Undo the block, not the whole transaction, if an error leaves it."""
        core = self._place()
        if core is None:
            raise errors.ProgrammingError(
                "in autocommit mode there is no transaction for a savepoint: use begin()"
            )
        async with savepoint(core, name) as made:
            yield made

    async def ping(self) -> None:
        """Check that the server answers; an OperationalError says that it does not."""
        self._check()
        await self._core.ping()

    async def reset(self) -> None:
        """Roll back, and undo settings of the session (``ALTER SESSION RESET``, Firebird 4 and newer)."""
        await self.rollback()
        await self._core.reset()

    async def set_timeouts(self, *, statement: float | None = None, idle: float | None = None) -> None:
        """Let the server end statements, or the idle connection, after these seconds; ``None`` = no limit."""
        self._check()
        # For the server, 0 is no limit; None would leave the one that there is.
        await self._core.limit(statement or 0.0, idle or 0.0)

    async def close(self) -> None:
        """Roll back and disconnect; what still runs is cancelled. Closing again does nothing."""
        is_alive = self._core.is_alive
        try:
            await self._core.close()
        except errors.OperationalError:
            # The link was already dead: there is no one to disconnect from.
            if is_alive:
                raise
        finally:
            # Not earlier: dropping it would begin a rollback without a limit.
            self._main = None

    async def drop_database(self) -> None:
        """Delete the database, to which nobody else may be connected, and close."""
        self._check()
        self._main = None
        await self._core.drop_database()

    async def __aenter__(self) -> Connection:
        self._check()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.closed:
            return
        if error is not None:
            # The original error is the one worth reporting.
            with suppress(errors.Error):
                await self.close()
            return
        try:
            # A caller that caught the error of the commit already knows.
            if self._failed is None:
                await self.commit()
        finally:
            await self.close()

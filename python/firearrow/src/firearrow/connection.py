"""Connections."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _core, errors
from ._base import ConnectionBase, event_names
from ._exit import close_at_exit
from ._request import Request, check_switch
from .blob import BlobReader, BlobWriter
from .cursor import Cursor
from .events import Events
from .partitions import Part, Partitions
from .rows import RowFactory, chosen
from .transaction import LimboTransaction, Transaction, savepoint

if TYPE_CHECKING:
    from .catalog import Catalog

__all__ = ["Connection", "connect", "create_database"]


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
) -> Connection:
    """Connect to a database.

    Parameters
    ----------
    database
        A URL (``firebird://user@host:port/path?option=value``), a name such as ``host:path`` or
        ``/data/shop.fdb``, or a list of keywords (``Database=host:path;UID=…``). A path without a host is
        opened by the embedded engine.
    user, password, role
        The login; by default ``FIREARROW_USER`` and ``FIREARROW_PASSWORD``.
    host, port
        The server, if ``database`` is only a path.
    autocommit
        Whether each statement is a transaction of its own.
    isolation, read_only, lock_timeout
        How the connection's transactions start; see :meth:`Connection.begin`.
    row_factory
        What rows become: :func:`tuple_row`, :func:`dict_row`, :func:`namedtuple_row` or :func:`class_row`.
    max_result_rows, max_result_bytes
        The most that calls such as ``fetchall``, ``fetch_arrow_table`` and ``fetch_json`` keep of a result,
        in rows and in bytes of its columns; more is an OperationalError. Iteration, ``fetchmany`` and streams
        have no bounds.
    **options
        Any option in ``docs/connection-options.md``, such as ``wire_crypt="required"`` or
        ``connect_timeout=5``.

    Raises
    ------
    InterfaceError
        An option is unknown or has an impossible value.
    OperationalError
        The server or the database cannot be reached, or refuses the login.
    """
    return open_requested(
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


def create_database(database: str | os.PathLike[str], **options: Any) -> Connection:
    """Create a database and connect to it; takes the arguments of :func:`connect`.

    Options of the new database are ``page_size``, ``db_charset`` and ``force_writes``; ``overwrite=True``
    replaces an existing one.
    """
    return open_requested(Request(True, database, **options))


def open_requested(request: Request) -> Connection:
    core = _core.Connection(request.database, request.options, request.create)
    connection = Connection(core, autocommit=request.autocommit, row_factory=request.row_factory)
    request.prepare(connection)
    close_at_exit(connection)
    return connection


class Connection(ConnectionBase[_core.Connection, _core.Transaction]):
    """A connection and its transaction: from the first statement to commit or rollback.

    As a context manager it commits at the end of the block, rolls back if an error leaves it, and closes.
    """

    @property
    def autocommit(self) -> bool:
        """Whether each statement is a transaction of its own. Switching it on commits."""
        return self._autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        check_switch("autocommit", value)
        if value and not self._autocommit:
            self.commit()
        self._autocommit = value

    @property
    def info(self) -> dict[str, Any]:
        """The server and the database: versions, protocol, cipher, character sets, page size, user …"""
        return self._core.info()

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

    def execute(self, sql: str, parameters: object = None, **options: Any) -> Cursor:
        """Execute a statement with a new cursor, which is returned; see :meth:`Cursor.execute`."""
        return self.cursor().execute(sql, parameters, **options)

    def executemany(self, sql: str, rows: object, **options: Any) -> Cursor:
        """Execute a statement for many rows with a new cursor; see :meth:`Cursor.executemany`."""
        return self.cursor().executemany(sql, rows, **options)

    def begin(
        self,
        *,
        isolation: str | None = None,
        read_only: bool | None = None,
        lock_timeout: float | None = None,
        snapshot: int | None = None,
    ) -> Transaction:
        """Start a separate transaction, beside the connection's own.

        Parameters
        ----------
        isolation
            ``snapshot`` (the default), ``read_committed`` or ``snapshot_table_stability``; also
            ``read_committed_record_version``, ``read_committed_no_record_version`` and
            ``read_committed_read_consistency``.
        read_only
            Whether changes are refused.
        lock_timeout
            Seconds to wait for other transactions: ``None`` = as long as it takes, 0 = not at all.
        snapshot
            The number of another transaction's snapshot to read (Firebird 4 and newer).
        """
        return Transaction(self, self._begin_core(isolation, read_only, lock_timeout, snapshot))

    def limbo_transactions(self) -> list[LimboTransaction]:
        """Return the transactions in limbo that no connection holds, by number.

        They were prepared (:meth:`Transaction.prepare_commit`), and neither committed nor rolled back. Firebird 3
        first waits for those that other connections are about to decide.
        """
        self._check()
        return [LimboTransaction(**found) for found in self._core.catalog("limbo_transactions")]

    def recover(self, number: int) -> Transaction:
        """Take over a transaction in limbo, to commit it or roll it back.

        Raises
        ------
        Error
            It is not in limbo, or the connection that has prepared it holds it, or this one does. Another
            one that has taken it over is not noticed: let one program decide.
        """
        self._check()
        taken = Transaction(self, self._core.recover(number))
        taken._note_prepared()
        return taken

    @property
    def catalog(self) -> Catalog:
        """Tables and what belongs to them."""
        self._check()
        from .catalog import Catalog

        return Catalog(self)

    def events(self, *names: str) -> Events:
        """Listen for events with these names from now on; the connection remains usable while one waits."""
        self._check()
        return self._adopt(Events(_core.Events(self._core, event_names(names))))

    def read_partitions(
        self, sql: str, n: int = 0, *, parameters: object = None, without_snapshot: bool = False
    ) -> Partitions:
        """Divide a query of one large table into parts that several connections read, from one snapshot.

        Parameters
        ----------
        sql
            One query.
        n
            The most parts: 0 = as many as there are processors. Queries that cannot be divided, and all
            before Firebird 4, are one part.
        parameters
            Its parameters, as with :meth:`execute`.
        without_snapshot
            Divide before Firebird 4, too: each part sees what is committed when it is read, so that rows
            that others change meanwhile may be missing, or appear twice.
        """
        self._check()
        core = _core.Partitions(self._core, sql, parameters, n, without_snapshot)
        return self._adopt(Partitions(core))

    def read_partition(self, descriptor: bytes) -> Part:
        """Read a part of a query with this connection; see :func:`firearrow.read_partition`."""
        self._check()
        return self._adopt(Part(self, descriptor, owns=False))

    def open_blob(self, number: int) -> BlobReader:
        """Open a BLOB by its id, as a file to read; it ends with the connection's transaction."""
        return self._adopt(BlobReader(_core.BlobReader(self._blob_place(), number)))

    def create_blob(self) -> BlobWriter:
        """Create a BLOB in the connection's transaction, as a file to write."""
        return self._adopt(BlobWriter(_core.BlobWriter(self._blob_place())))

    def commit(self, *, retaining: bool = False) -> None:
        """Make the changes of the connection's transaction permanent. Without one, nothing happens.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.

        If it fails or is interrupted, the transaction is gone, unless the commit had not begun. Then
        statements and another ``commit`` are refused until ``rollback`` is called, so that nobody takes
        changes for permanent that are not.

        Raises
        ------
        Error
            The commit has failed.
        ProgrammingError
            An earlier one has (its ``kind`` is ``CommitFailed``).
        """
        self._check()
        self._check_lock()
        self._check_commit()
        # Until it is reset, this thread's commit has not been seen to succeed.
        self._pending = threading.get_ident()
        if (main := self._take(retaining)) is not None:
            try:
                main.commit_retaining() if retaining else main.commit()
            except BaseException as error:
                self._note_commit(main, error)
                self._pending = None
                raise
        self._pending = None

    def rollback(self, *, retaining: bool = False) -> None:
        """Undo the changes of the connection's transaction. Without one, nothing happens.

        With ``retaining``, the transaction goes on with the same snapshot and open cursors.
        """
        if (main := self._take_main(retaining=retaining)) is not None:
            try:
                main.rollback_retaining() if retaining else main.rollback()
            except BaseException:
                if main.is_open:
                    self._restore(main)
                raise

    @contextmanager
    def savepoint(self, name: str | None = None) -> Generator[str]:
        """Undo the block, and not the whole transaction, if an error leaves it."""
        core = self._place()
        if core is None:
            raise errors.ProgrammingError(
                "in autocommit mode there is no transaction for a savepoint: use begin()"
            )
        with savepoint(core, name) as made:
            yield made

    def ping(self) -> None:
        """Check that the server answers; raises OperationalError if it does not."""
        self._check()
        self._core.ping()

    def reset(self) -> None:
        """Roll back, and reset the session's settings (``ALTER SESSION RESET``, Firebird 4 and newer)."""
        self.rollback()
        self._core.reset()

    def set_timeouts(self, *, statement: float | None = None, idle: float | None = None) -> None:
        """Let the server end statements, or the idle connection, after these seconds; ``None`` = no limit."""
        self._check()
        # For the server, 0 is no limit; None would leave the one that there is.
        self._core.limit(statement or 0.0, idle or 0.0)

    def close(self) -> None:
        """Roll back and disconnect. What other threads run is cancelled. Closing again does nothing.

        Raises
        ------
        OperationalError
            A call of another thread has not ended within 10 s although it was cancelled; the connection ends
            with it.
        """
        is_alive = self._core.is_alive
        try:
            self._core.close()
        except errors.OperationalError:
            # The link was already dead: there is no one to disconnect from.
            if is_alive:
                raise
        finally:
            # Not earlier: what other threads do in it ends first.
            self._main = None

    def drop_database(self) -> None:
        """Delete the database and close the connection. Nobody else may be connected."""
        self._check()
        self._core.drop_database()
        self._main = None

    def __enter__(self) -> Connection:
        self._check()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.closed:
            return
        if error is not None:
            # The original error is the one worth reporting.
            with suppress(errors.Error):
                self.close()
            return
        try:
            # A caller that caught the error of the commit already knows.
            if self._failed is None:
                self.commit()
        finally:
            self.close()

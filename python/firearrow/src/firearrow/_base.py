"""What connections, transactions and cursors have in common with their asynchronous counterparts."""

from __future__ import annotations

import copy
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from . import _core, errors
from ._request import bound, check_isolation, check_lock_timeout, check_switch
from ._names import Strict, of_class
from .rows import Row, RowFactory, check_factory, chosen, made_by, tuple_row
from .types import Column, column

# Columns that a cursor shows by name.
_SHOWN = 8

__all__ = [
    "ConnectionBase",
    "CursorBase",
    "TransactionBase",
    "engine_release",
    "event_names",
    "frame",
    "library",
    "masked_arrays",
]

CoreConnection = TypeVar("CoreConnection", _core.Connection, _core.AioConnection)
CoreTransaction = TypeVar("CoreTransaction", _core.Transaction, _core.AioTransaction)
CoreCursor = TypeVar("CoreCursor", _core.Cursor, _core.AioCursor)
OfConnection = TypeVar("OfConnection", bound="ConnectionBase[Any, Any]")
Dependent = TypeVar("Dependent")
OfTransaction = TypeVar("OfTransaction", bound="TransactionBase[Any, Any]")


def _require_text(sql: object) -> None:
    """Refuse bytes, and objects in which other libraries keep SQL."""
    if not isinstance(sql, str):
        raise errors.ProgrammingError(f"SQL must be a str, not {type(sql).__name__}")


def engine_release(info: Mapping[str, Any]) -> int:
    """Return the engine's major release, from what a connection's ``info`` says."""
    return int(str(info["engine_version"]).split(".")[0])


def event_names(names: Sequence[object]) -> list[str]:
    """Return the names of events; other drivers take one list of them."""
    if not all(isinstance(name, str) for name in names):
        raise errors.InterfaceError("pass the names as arguments: events('first', 'second')")
    return [str(name) for name in names]


class ConnectionBase(Strict, Generic[CoreConnection, CoreTransaction]):
    """A connection, without what waits."""

    # PEP 249 wants them here, too.
    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(
        self, core: CoreConnection, *, autocommit: bool = False, row_factory: RowFactory = tuple_row
    ) -> None:
        self._core: CoreConnection = core
        self._autocommit = autocommit
        self._main: CoreTransaction | None = None
        # Why the last commit failed, until rollback is called.
        self._failed: BaseException | None = None
        # The thread whose commit is under way.
        self._pending: int | None = None
        # Held for moments; a signal handler may come while its own thread has it.
        self._lock = threading.RLock()
        self._options: dict[str, Any] = {}
        # Transactions of it that were prepared, and neither committed nor rolled back.
        self._undecided = 0
        self.row_factory = row_factory
        self._max_result_rows: int | None = None
        self._max_result_bytes: int | None = None
        self._target = ""

    @property
    def row_factory(self) -> RowFactory:
        """What the rows of new results become."""
        return self._row_factory

    @row_factory.setter
    def row_factory(self, value: RowFactory | None) -> None:
        value = tuple_row if value is None else value
        check_factory(value)
        self._row_factory = value

    @property
    def isolation(self) -> str | None:
        """The isolation level of future transactions; see :meth:`begin`."""
        return self._options.get("isolation")

    @isolation.setter
    def isolation(self, value: str | None) -> None:
        check_isolation(value)
        self._set_option("isolation", value)

    @property
    def read_only(self) -> bool:
        """Whether future transactions refuse changes."""
        return bool(self._options.get("read_only"))

    @read_only.setter
    def read_only(self, value: bool) -> None:
        check_switch("read_only", value)
        self._set_option("read_only", value)

    @property
    def lock_timeout(self) -> float | None:
        """Seconds that future transactions wait for others; see :meth:`begin`."""
        return self._options.get("lock_timeout")

    @lock_timeout.setter
    def lock_timeout(self, value: float | None) -> None:
        check_lock_timeout(value)
        self._set_option("lock_timeout", value)

    @property
    def max_result_rows(self) -> int | None:
        """The most rows that calls such as ``fetchall`` keep of a result; ``None`` = no limit."""
        return self._max_result_rows

    @max_result_rows.setter
    def max_result_rows(self, value: int | None) -> None:
        self._max_result_rows = bound("max_result_rows", value)

    @property
    def max_result_bytes(self) -> int | None:
        """The most bytes of its columns that they keep; ``None`` = no limit."""
        return self._max_result_bytes

    @max_result_bytes.setter
    def max_result_bytes(self, value: int | None) -> None:
        self._max_result_bytes = bound("max_result_bytes", value)

    @property
    def closed(self) -> bool:
        """Whether this program has closed the connection."""
        return not self._core.is_open

    @property
    def is_alive(self) -> bool:
        """Whether the connection works, as far as is known without asking the server; ``ping`` asks."""
        return self._core.is_alive

    @property
    def wire_stats(self) -> dict[str, int]:
        """Round trips, packets and bytes so far; zeros in-process."""
        return self._core.wire_stats()

    @property
    def warnings(self) -> list[str]:
        """Warnings about the connection, such as clear text on a network, and new ones of statements."""
        connecting, statements = self._core.warnings()
        return connecting + statements

    def cancel(self) -> None:
        """Cancel what other threads execute on this connection; they get an OperationalError."""
        self._core.cancel()

    def _check(self) -> None:
        if not self._core.is_open:
            raise errors.InterfaceError("the connection is closed")

    def _begin_core(
        self,
        isolation: str | None = None,
        read_only: bool | None = None,
        lock_timeout: float | None = None,
        snapshot: int | None = None,
    ) -> CoreTransaction:
        """A transaction with the connection's options where others are not given."""
        defaults = self._options
        begun: Any = self._core.begin(
            isolation if isolation is not None else defaults.get("isolation"),
            bool(defaults.get("read_only")) if read_only is None else read_only,
            lock_timeout if lock_timeout is not None else defaults.get("lock_timeout"),
            snapshot,
        )
        core: CoreTransaction = begun
        return core

    def _adopt(self, dependent: Dependent) -> Dependent:
        """Register and return what was opened on it; with pooled connections, that ends with the loan."""
        return dependent

    def _lend_rows(self, transaction: CoreTransaction | None) -> None:
        """Learn of rows that go to an Arrow consumer, which nothing here can close."""

    def _note_sql(self, sql: str) -> None:
        """Inspect a statement; a pool wants to know which ones change the session."""

    def _set_option(self, name: str, value: Any) -> None:
        """Change how transactions begin; a value that is refused changes nothing."""
        before = self._options.get(name)
        self._options[name] = value
        try:
            self._tell_options()
        except BaseException:
            self._options[name] = before
            raise

    def _tell_options(self) -> None:
        """Let the transactions of single statements begin as the others do."""
        self._core.set_single(self.isolation, self.read_only, self.lock_timeout)

    def _place(self) -> CoreTransaction | None:
        """The transaction of the next statement; ``None`` = one of its own."""
        return None if self._autocommit else self._main_core()

    def _blob_place(self) -> CoreTransaction:
        self._check()
        core = self._place()
        if core is None:
            raise errors.ProgrammingError(
                "in autocommit mode there is no transaction for a BLOB: use begin()"
            )
        return core

    def _has_begun(self) -> bool:
        return self._main is not None and self._main.is_open

    def _main_core(self) -> CoreTransaction:
        main = self._main
        if main is not None and main.is_open:
            return main
        self._check_commit()
        # Without the lock: a signal handler that runs meanwhile may use the connection.
        begun = self._begin_core()
        # Threads that come together share one transaction.
        return begun if self._put_main(begun) else self._main_core()

    def _put_main(self, core: CoreTransaction) -> bool:
        """Make it the connection's transaction, unless that has another one."""
        self._check_lock()
        with self._lock:
            main = self._main
            if main is not None and main.is_open:
                return False
            self._main = core
            return True

    def _check_lock(self) -> None:
        lock: Any = self._lock
        if lock._is_owned():
            raise errors.ProgrammingError(
                "the connection is already in use by the call within which this code runs "
                "(as a signal handler, finaliser or generator)"
            )

    def _check_commit(self) -> None:
        """Refuse to go on as if the last commit had not failed."""
        failed = self._failed
        if failed is None and self._pending == threading.get_ident():
            # An exception of a signal handler has left commit somewhere in between.
            failed = errors.OperationalError("the commit was interrupted")
        if failed is None:
            return
        is_known = isinstance(failed, errors.Error) and failed.commit in (None, "rolled_back")
        outcome = "its changes were rolled back" if is_known else "nobody knows whether its changes are there"
        error = errors.ProgrammingError(
            f"the last commit failed, and {outcome}: call rollback(), then do the work again"
        )
        error.kind = "CommitFailed"
        raise error from failed

    def _note_commit(self, main: CoreTransaction, error: BaseException) -> None:
        """Remember a commit that failed, unless its transaction goes on, or is known to be committed."""
        goes_on = main.is_open and self._restore(main)
        if not goes_on and getattr(error, "commit", None) != "committed":
            # Without its traceback, whose frames have this connection.
            try:
                self._failed = copy.copy(error)
            except Exception:
                self._failed = errors.OperationalError(str(error))

    def _take_main(self, *, retaining: bool = False, commits: bool = False) -> CoreTransaction | None:
        """The transaction of the connection, if it has one, which is about to end or to be retained."""
        self._check()
        self._check_lock()
        if commits:
            self._check_commit()
        else:
            self._failed = self._pending = None
        return self._take(retaining)

    def _take(self, retaining: bool) -> CoreTransaction | None:
        with self._lock:
            main = self._main
            if not retaining:
                self._main = None
        return main if main is not None and main.is_open else None

    def _restore(self, main: CoreTransaction) -> bool:
        """Go on with a transaction that could not be ended, unless another one has begun."""
        return main is self._main or self._put_main(main)

    def __del__(self) -> None:
        core = getattr(self, "_core", None)
        if core is not None and core.is_open:
            self._warn(self._not_closed())

    def _not_closed(self) -> str:
        return f"{self!r} was not closed: call close(), or use a with block"

    def _warn(self, text: str) -> None:
        warnings.warn(text, ResourceWarning, stacklevel=3, source=self)

    def __repr__(self) -> str:
        return f"<{_name(self)}: {self._target}, {self._state()}>"

    def _state(self) -> str:
        if self.closed:
            return "closed"
        if self._failed is not None:
            return "open, its last commit failed"
        return "open, in a transaction" if self._has_begun() else "open"


class TransactionBase(Generic[CoreTransaction, OfConnection]):
    """A transaction, without what waits."""

    def __init__(self, connection: OfConnection, core: CoreTransaction) -> None:
        self._connection: OfConnection = connection
        self._core: CoreTransaction = core
        # Whether commit or rollback was called, as opposed to a connection that was closed.
        self._was_ended = False
        # Leaving a block on an error must not roll it back then: other databases may have committed.
        self._is_prepared = False
        connection._adopt(self)

    @property
    def connection(self) -> OfConnection:
        """The connection that it belongs to."""
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether it has not ended."""
        return self._core.is_open

    def _note_prepared(self) -> None:
        """From now on it may be in limbo."""
        # Other threads may prepare transactions of the same connection.
        with self._connection._lock:
            if not self._is_prepared:
                self._is_prepared = True
                self._connection._undecided += 1

    def _note_decided(self) -> None:
        with self._connection._lock:
            if self._is_prepared:
                self._is_prepared = False
                self._connection._undecided -= 1

    @contextmanager
    def _preparing(self) -> Generator[None]:
        """Around the first phase of a commit."""
        # Until it is known to have been refused: a call that was cancelled may have reached the server.
        self._note_prepared()
        try:
            yield
        except errors.Error:
            if self._connection._core.is_alive:
                self._note_decided()
            raise

    def _check_ended(self, error: BaseException | None) -> None:
        """Refuse to leave a block as if its changes had been committed."""
        if error is None and not self._was_ended and self._is_prepared:
            raise errors.InterfaceError(
                "the transaction was not committed: its connection was closed, or given back to its pool; it"
                " stays in limbo: see Connection.recover"
            )
        if error is None and not self._was_ended:
            raise errors.InterfaceError(
                "the transaction ended without a commit, and its changes were rolled back: its connection was"
                " closed, or given back to its pool"
            )

    def __repr__(self) -> str:
        state = "ended" if not self.is_open else "in limbo" if self._is_prepared else "open"
        return f"<{_name(self)} of {self._connection!r}: {state}>"


class CursorBase(Generic[CoreCursor, OfConnection, OfTransaction]):
    """A cursor, without what waits."""

    def __init__(
        self,
        core: CoreCursor,
        connection: OfConnection,
        transaction: OfTransaction | None,
        row_factory: RowFactory | None,
        scrollable: bool,
    ) -> None:
        self._core: CoreCursor = core
        self._connection: OfConnection = connection
        self._transaction: OfTransaction | None = transaction
        self._is_closed = False
        self._is_scrollable = scrollable
        self._make: Callable[[Row], Any] | None = None
        self.arraysize = 100
        self.row_factory = row_factory
        self.failures: list[tuple[int, errors.Error]] = []
        # The columns of the result, and what they are once somebody has asked.
        self._columns: _core.Columns | None = None
        self._description: tuple[Column, ...] | None = None
        self._rowcount = -1
        self._is_taken = False
        self._model: type | None = None
        self._limits: tuple[int | None, int | None] = (None, None)
        # Whether the last statement had a transaction of its own.
        self._is_single = False
        # Of stream_json: they end with the cursor.
        self._streams: dict[object, Any] = {}
        # The rows, once an Arrow consumer has asked for their schema.
        self._reader: Any = None
        connection._adopt(self)

    @property
    def row_factory(self) -> RowFactory | None:
        """What the rows of new results become; ``None`` = what the connection says."""
        return self._row_factory

    @row_factory.setter
    def row_factory(self, value: RowFactory | None) -> None:
        if value is not None:
            check_factory(value)
        self._row_factory = value

    @property
    def connection(self) -> OfConnection:
        """The connection that it belongs to."""
        return self._connection

    @property
    def description(self) -> tuple[Column, ...] | None:
        """The columns of the result; ``None`` if the last statement returned no rows."""
        columns = self._columns
        if self._description is None and columns is not None:
            self._description = tuple(column(described) for described in columns.describe())
        return self._description

    @property
    def rowcount(self) -> int:
        """Rows that the last statement inserted, updated or deleted.

        For a query: its rows if all were fetched, otherwise -1.
        """
        if self._rowcount >= 0 or self._columns is None or self._is_closed:
            return self._rowcount
        count, is_over = self._core.fetched()
        return count if is_over else -1

    @property
    def rownumber(self) -> int | None:
        """The number of the next row, counted from 0; ``None`` if the last statement returned no rows."""
        return None if self._columns is None else self._core.fetched()[0]

    @property
    def wire_stats(self) -> dict[str, int]:
        """Round trips, packets and bytes of the last statement so far; zeros in-process."""
        self._check()
        return self._core.wire_stats()

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Do nothing: the server knows the types of parameters."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing: values are never truncated."""

    def _check(self) -> None:
        if self._is_closed:
            raise errors.InterfaceError("the cursor is closed")
        self._connection._check()

    def _begin(
        self,
        sql: str,
        model: type | None = None,
        max_result_rows: int | None = None,
        max_result_bytes: int | None = None,
    ) -> None:
        """Forget the last statement before this one."""
        self._check()
        if model is not None:
            # A wrong model is refused before anything is executed.
            chosen(None, model)
        self._model = model
        defaults = self._connection
        rows = defaults.max_result_rows if max_result_rows is None else max_result_rows
        size = defaults.max_result_bytes if max_result_bytes is None else max_result_bytes
        if rows is not None or size is not None:
            bound("max_result_rows", rows, errors.ProgrammingError)
            bound("max_result_bytes", size, errors.ProgrammingError)
        self._limits = (rows, size)
        self._columns = self._description = self._make = None
        self._rowcount, self._is_taken = -1, False
        self.failures = []
        self._reader = None
        _require_text(sql)
        self._connection._note_sql(sql)
        try:
            if not sql.isascii():
                sql.encode()
        except UnicodeEncodeError as error:
            raise errors.ProgrammingError(
                f"the SQL contains a lone surrogate (not valid Unicode) at position {error.start}"
            ) from None

    def _place(self) -> Any:
        """The transaction of the next statement; ``None`` = one of its own."""
        if self._transaction is not None:
            return self._transaction._core
        place = self._connection._place()
        self._is_single = place is None
        return place

    def _note(self, told: tuple[Any, int, list[tuple[int, Any]]]) -> None:
        self._columns, self._rowcount, self.failures = told
        if self._columns is None:
            return
        factory = chosen(None, self._model) or self._row_factory or self._connection._row_factory
        if factory is not tuple_row:
            self._make = made_by(factory, self.description or ())

    @staticmethod
    def _is_values(orient: str) -> bool:
        """Whether rows become JSON arrays, and not objects."""
        if orient not in ("records", "values"):
            raise errors.ProgrammingError(f"orient must be 'records' or 'values', not {orient!r}")
        return orient == "values"

    def _row(self, value: int, mode: str) -> int:
        """The row, counted from 0, to which ``scroll`` moves."""
        if mode not in ("relative", "absolute"):
            raise errors.ProgrammingError(f"mode must be 'relative' or 'absolute', not {mode!r}")
        row = value + (self._core.fetched()[0] if mode == "relative" else 0)
        if row < 0:
            raise IndexError(f"there is no row {row}")
        return row

    def _stream(self, key: object) -> Any:
        """The stream of a generator that goes on."""
        self._check()
        if key not in self._streams:
            raise errors.InterfaceError("the cursor is closed")
        return self._streams[key]

    @staticmethod
    def _goes_on(on_error: str) -> bool:
        """Whether ``executemany`` continues after a row that fails."""
        if on_error not in ("raise", "continue"):
            raise errors.ProgrammingError(f"on_error must be 'raise' or 'continue', not {on_error!r}")
        return on_error == "continue"

    def _note_many(self, told: tuple[Any, int, list[tuple[int, Any]]], go_on: bool) -> None:
        """Keep what ``executemany`` was told; raise the error of the first row that failed."""
        self._note(told)
        if self.failures and not go_on:
            raise errors.failed(self.failures)
        if self._columns is None and not self.failures:
            # Without any row, none was affected.
            self._rowcount = max(self._rowcount, 0)

    def _size(self, size: int | None) -> int:
        """The number of rows that ``fetchmany`` returns."""
        size = self.arraysize if size is None else size
        if size < 0:
            raise errors.ProgrammingError("size must not be negative")
        return min(size, sys.maxsize)

    def _made(self, rows: list[Row]) -> list[Any]:
        """Rows as the row factory makes them."""
        if self._make is None:
            return rows
        try:
            return [self._make(row) for row in rows]
        except BaseException:
            # They are lost, and the next ones must not look like all.
            self._core.fail()
            raise

    def __repr__(self) -> str:
        return f"<{_name(self)}: {self._state()}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the columns. Rows that it fetched would be missing from the next fetch."""
        from html import escape

        caption = f"<caption>{escape(self._state())}</caption>"
        description = self.description
        if self._is_closed or not description:
            return f"<table>{caption}</table>"
        heads = "".join(f"<th>{head}</th>" for head in ("column", "type", "may be NULL"))
        rows = "".join(
            f"<tr><td>{escape(column.name)}</td><td>{escape(_sql_type(column))}</td>"
            f"<td>{'yes' if column.null_ok else 'no'}</td></tr>"
            for column in description
        )
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"

    def _state(self) -> str:
        if self._is_closed:
            return "closed"
        description = self.description
        if description is None:
            return "no rows" if self._rowcount < 0 else f"no rows, {self._rowcount} affected"
        columns = len(description)
        shown = ", ".join(column.name for column in description[:_SHOWN])
        if columns > _SHOWN:
            shown += f" … {columns} columns"
        # Columns are known even after the connection was lost.
        count, is_over = (0, False) if self._connection.closed else self._core.fetched()
        return f"{shown}; {count} rows fetched{', all' if is_over else ' so far' if count else ''}"


def _sql_type(column: Column) -> str:
    """Return a column's type as SQL has it, as far as the description tells."""
    name, precision, scale = column.type_code, column.precision, column.scale
    if name in ("NUMERIC", "DECIMAL") and precision is not None:
        return f"{name}({precision}, {scale or 0})"
    if name in ("CHAR", "VARCHAR") and column.display_size:
        return f"{name}({column.display_size})"
    if name in ("BINARY", "VARBINARY"):
        return f"{name}({column.internal_size})"
    return name


def _name(of: object) -> str:
    """The name of an object's class as users know it."""
    return of_class(type(of))


def library(name: str) -> Any:
    """Import a library that is not required."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise errors.InterfaceError(f"this needs {name}: pip install {name}") from error


def masked_arrays(numpy: Any, table: Any) -> dict[str, Any]:
    """The columns of a ``pyarrow.Table`` as NumPy arrays; masked ones where values are NULL."""
    arrays: dict[str, Any] = {}
    for name, values in zip(table.column_names, table.columns, strict=True):
        mask = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else None
        if mask is not None and is_integer(values):
            # Otherwise they become floats, which have 53 bits.
            values = values.fill_null(0)
        array = values.to_numpy(zero_copy_only=False)
        if mask is not None:
            array = numpy.ma.masked_array(array, mask=mask)
        arrays[name] = array
    return arrays


def is_integer(values: Any) -> bool:
    """Whether an array of pyarrow has integers."""
    return bool(library("pyarrow").types.is_integer(values.type))


def frame(table: Any, options: dict[str, Any]) -> Any:
    """A ``pyarrow.Table`` as a ``pandas.DataFrame``."""
    made = table.to_pandas(**options)
    if "types_mapper" in options or "integer_object_nulls" in options:
        return made
    dtype = library("pandas").api.types.pandas_dtype
    for place, values in enumerate(table.columns):
        if values.null_count and is_integer(values):
            # By default they become floats, which have 53 bits.
            nullable = dtype(str(values.type).replace("uint", "UInt").replace("int", "Int"))
            made.isetitem(place, values.to_pandas(types_mapper={values.type: nullable}.get))
    return made

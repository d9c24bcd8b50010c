"""Cursors: statements, and the rows that they give."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _core
from ._base import CursorBase, frame, library, masked_arrays
from ._hints import explain_names
from .errors import OperationalError, ProgrammingError
from .rows import Row, RowFactory

if TYPE_CHECKING:
    from .connection import Connection
    from .transaction import Transaction

__all__ = ["Cursor"]

# A procedure's name as SQL has it.
_NAME = re.compile(r'\w+(\.\w+)?|("[^"]+")(\."[^"]+")?')


class Cursor(CursorBase[_core.Cursor, "Connection", "Transaction"]):
    """Executes statements, and fetches the rows of the last one.

    >>> cursor = connection.cursor()
    >>> cursor.execute("SELECT country, currency FROM country WHERE currency = ?", ("Euro",))
    >>> for country, currency in cursor:
    ...     print(country)

    Attributes
    ----------
    arraysize : int
        The number of rows that ``fetchmany`` returns by default.
    failures : list of (int, Error)
        The rows of the last ``executemany`` that failed, by number from 0.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        transaction: Transaction | None = None,
        row_factory: RowFactory | None = None,
        scrollable: bool = False,
    ) -> None:
        super().__init__(_core.Cursor(connection._core), connection, transaction, row_factory, scrollable)

    @property
    def plan(self) -> str | None:
        """The plan of the last statement, one line for each access path."""
        self._check()
        return self._core.plan(True)

    def execute(
        self,
        sql: str,
        parameters: object = None,
        *,
        timeout: float | None = None,
        parallel: int | None = None,
        read: Mapping[str, str] | None = None,
        model: type | None = None,
        max_result_rows: int | None = None,
        max_result_bytes: int | None = None,
    ) -> Cursor:
        """Execute a statement.

        Parameters
        ----------
        sql
            One statement, with ``?`` for each parameter, or with names such as ``:id``.
        parameters
            A sequence of values, or a mapping for names.
        timeout
            Seconds after which the statement ends with an OperationalError; fetching its rows counts.
        parallel
            How many connections read one large table together, in order; 0 = one for each processor.
        read
            Overrides of the connection's type mapping, such as ``{"blobs": "lazy"}``.
        model
            What the rows become: a dataclass, an attrs class, a pydantic model or a ``NamedTuple``, with
            fields of the columns' names; see :func:`firearrow.model_row`.
        max_result_rows, max_result_bytes
            Bounds for calls that keep the whole result, instead of the connection's; see
            :func:`firearrow.connect`.

        Returns
        -------
        Cursor
            This one.
        """
        self._begin(sql, model, max_result_rows, max_result_bytes)
        try:
            told = self._core.execute(
                self._place(), sql, parameters, timeout, parallel, read, self._is_scrollable
            )
        except ProgrammingError as error:
            explain_names(error, sql, parameters)
            raise
        self._note(told)
        return self

    def executemany(
        self,
        sql: str,
        rows: object,
        *,
        on_error: str = "raise",
        read: Mapping[str, str] | None = None,
        model: type | None = None,
        max_result_rows: int | None = None,
        max_result_bytes: int | None = None,
    ) -> Cursor:
        """Execute a statement for many rows of parameters, in few round trips.

        Parameters
        ----------
        sql
            One statement.
        rows
            An iterable of rows of parameters; or a table or stream of Arrow data (pyarrow, polars, DuckDB …),
            whose columns are the parameters in order. Its values never become Python objects.
        on_error
            ``"raise"`` stops at the first row that fails. The rows before it are done, and rows that were
            sent together with it may be: roll back. ``"continue"`` continues to the last row; ``failures``
            lists those that failed.
        read, model, max_result_rows, max_result_bytes
            For rows that the executions return, as with :meth:`execute`.

        Raises
        ------
        Error
            The first row's; ``row`` is its number and ``failures`` has all that are known.
        """
        go_on = self._goes_on(on_error)
        self._begin(sql, model, max_result_rows, max_result_bytes)
        place = self._place()
        if place is not None:
            told = self._core.executemany(place, sql, rows, go_on, read)
        else:
            # All rows in one transaction.
            own = self._connection._begin_core()
            try:
                told = self._core.executemany(own, sql, rows, go_on, read)
            except BaseException:
                if own.is_open:
                    own.rollback()
                raise
            if told[2] and not go_on:
                own.rollback()
            else:
                own.commit()
        self._note_many(told, go_on)
        return self

    def ingest(self, data: object, table: str, *, mode: str = "append", text: int | None = None) -> int:
        """Insert Arrow data (pyarrow, polars, pandas 3, DuckDB …) into a table, by column names.

        Parameters
        ----------
        data
            Whatever has ``__arrow_c_stream__``.
        table
            The table's name. A table that is there is found in any letter case, and so are its columns, if no
            other has that name; a new one is called exactly so, and SQL finds ``visits`` only in quotes.
        mode
            ``"append"`` to a table that exists; ``"create"`` it, ``"create_append"`` or ``"replace"`` it. A
            new table is committed at once, and remains if inserting fails. No transaction may be open then,
            since it would not see the table.
        text
            The length of VARCHAR columns for text in new tables. Without it, they have room for twice the
            longest text, and at least 64 characters; they are BLOBs if there is more than 64 MiB of data, or
            no rows.

        Returns
        -------
        int
            The number of rows.
        """
        self._begin("")
        if self._transaction is not None:
            # It may have begun.
            count = self._core.ingest(lambda: self._transaction_core(), True, data, table, mode, text)
        elif not self._connection.autocommit:
            begin, has_begun = self._connection._main_core, self._connection._has_begun()
            count = self._core.ingest(begin, has_begun, data, table, mode, text)
        else:
            own: list[_core.Transaction] = []

            def begin_own() -> _core.Transaction:
                own.append(self._connection._begin_core())
                return own[0]

            try:
                count = self._core.ingest(begin_own, False, data, table, mode, text)
            except BaseException:
                if own and own[0].is_open:
                    own[0].rollback()
                raise
            own[0].commit()
        self._rowcount = count
        return count

    def callproc(self, name: str, parameters: Sequence[object] = ()) -> Row:
        """Execute a procedure and return its outputs.

        Parameters
        ----------
        name
            The procedure's name as in SQL: quoted if its letters are not all capitals.

        Returns
        -------
        tuple
            The outputs; the input parameters if it has none.
        """
        self.execute(call(name, len(parameters)), tuple(parameters))
        if self._columns is None:
            return tuple(parameters)
        row = self._core.fetchone()
        return tuple(parameters) if row is None else row

    def fetchone(self) -> Any:
        """Return the next row; ``None`` after the last."""
        self._check()
        row = self._core.fetchone()
        return row if row is None or self._make is None else self._make(row)

    def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return up to ``size`` rows (``arraysize`` without it); fewer only at the end."""
        self._check()
        return self._made(self._core.fetchmany(self._size(size)))

    def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        self._check()
        try:
            return self._made(self._core.fetchmany(None, *self._limits))
        except OperationalError as error:
            if error.kind == "TooLarge":
                # The rows that were kept are lost, so that the others are of no use.
                self._core.close_result()
            raise

    def scroll(self, value: int, mode: str = "relative") -> None:
        """Move within the rows of a query, with a cursor that was made with ``scrollable=True``.

        Parameters
        ----------
        value
            How many rows to go on, or back if it is negative; or the number of the row to fetch next.
        mode
            ``"relative"`` to the next row (``rownumber``), or ``"absolute"``, counted from 0.

        Raises
        ------
        IndexError
            There is no such row; the place is the same as before.
        """
        self._check()
        row = self._row(value, mode)
        if not self._core.scroll(row):
            raise IndexError(f"there is no row {row}")

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the remaining rows to an Arrow consumer; none can be fetched here afterwards."""
        if self._reader is not None:
            self._check()
            reader, self._reader = self._reader, None
            return reader.__arrow_c_stream__(requested_schema)
        self._give()
        if self._transaction is not None or self._is_single:
            self._connection._lend_rows(None if self._transaction is None else self._transaction._core)
        stream = self._core.arrow_stream()
        self._is_taken = True
        return stream

    def __arrow_c_schema__(self) -> object:
        """Tell an Arrow consumer such as DuckDB the columns. From then on, the rows can only go to Arrow."""
        if self._reader is None:
            self._reader = self.fetch_arrow_batches()
        return self._reader.schema.__arrow_c_schema__()

    def fetch_arrow_table(self) -> Any:
        """Return the remaining rows as a ``pyarrow.Table``."""
        return library("pyarrow").table(self._batches())

    def fetch_arrow_batches(self) -> Any:
        """Return the remaining rows as a ``pyarrow.RecordBatchReader``, which fetches as it is read."""
        return library("pyarrow").RecordBatchReader.from_stream(self)

    def fetch_polars(self) -> Any:
        """Return the remaining rows as a ``polars.DataFrame``."""
        return library("polars").DataFrame(self._batches())

    def fetch_pandas(self, **options: Any) -> Any:
        """Return the remaining rows as a ``pandas.DataFrame``; options go to pyarrow's ``to_pandas``.

        Columns of integers with NULL get pandas' nullable types, so that no digit is lost.
        """
        return frame(self.fetch_arrow_table(), options)

    def fetch_numpy(self) -> dict[str, Any]:
        """Return the remaining rows as NumPy arrays by column; masked arrays where values are NULL."""
        numpy = library("numpy")  # before the rows are taken
        return masked_arrays(numpy, self.fetch_arrow_table())

    def fetch_duckdb(self, connection: Any = None) -> Any:
        """Return the remaining rows as a relation of this DuckDB connection, or of the default one."""
        duckdb = connection if connection is not None else library("duckdb")
        # A stream could be read once, and relations are read each time that they are asked.
        return duckdb.from_arrow(self.fetch_arrow_table())

    def fetch_json(self, *, orient: str = "records") -> bytes:
        """Return the remaining rows as JSON.

        Decimals are numbers with all their digits; times are in ISO 8601, binary values in hexadecimal.

        Parameters
        ----------
        orient
            ``"records"`` makes an array with an object for each row; ``"values"`` an object with the names
            once and an array for each row: ``{"columns": [name, …], "data": [[value, …], …]}``.
        """
        return b"".join(self._json(False, self._is_values(orient), *self._limits))

    def stream_json(self, *, orient: str = "records") -> Iterator[bytes]:
        """Yield the remaining rows as NDJSON, one row per line, in pieces of whole lines.

        Parameters
        ----------
        orient
            ``"records"`` makes objects; ``"values"`` arrays, below a first line with the array of names.
        """
        return self._json(True, self._is_values(orient))

    def _give(self) -> None:
        """Refuse to give the rows to Arrow again."""
        self._check()
        if self._is_taken:
            raise ProgrammingError(
                "the rows have gone to Arrow, and can be read once: keep them with fetch_arrow_table()"
            )

    def _batches(self) -> _core.Batches:
        self._give()
        return self._core.batches(*self._limits)

    def _json(
        self, lines: bool, values: bool, rows: int | None = None, size: int | None = None
    ) -> Iterator[bytes]:
        self._check()
        key = object()
        self._streams[key] = self._core.json_stream(lines, values, rows, size)
        try:
            while (piece := self._stream(key).next()) is not None:
                if piece:
                    yield piece
        finally:
            self._streams.pop(key, None)

    def close(self) -> None:
        """Free the statement and its rows. Closing again does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._columns = self._description = None
            self._streams.clear()
            self._reader = None
            self._core.close()

    def _transaction_core(self) -> _core.Transaction:
        assert self._transaction is not None
        return self._transaction._core

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def call(name: str, parameters: int) -> str:
    """Return the SQL that executes a procedure."""
    if not _NAME.fullmatch(name):
        raise ProgrammingError(f"{name!r} is no procedure name")
    markers = ", ".join("?" * parameters)
    return f"EXECUTE PROCEDURE {name}{f' ({markers})' if markers else ''}"

"""Cursors: statements, and the rows that they give."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .. import _core
from .._base import CursorBase, frame, library, masked_arrays
from .._hints import explain_names
from ..cursor import call
from ..errors import OperationalError, ProgrammingError
from ..rows import Row, RowFactory

if TYPE_CHECKING:
    from .connection import Connection
    from .transaction import Transaction

__all__ = ["Cursor"]


class Cursor(CursorBase[_core.AioCursor, "Connection", "Transaction"]):
    """Executes statements, and fetches the rows of the last one.

    >>> cursor = connection.cursor()
    >>> await cursor.execute("SELECT country, currency FROM country WHERE currency = ?", ("Euro",))
    >>> async for country, currency in cursor:
    ...     print(country)

    Attributes
    ----------
    arraysize : int
        Rows that ``fetchmany`` returns unless it is told a number.
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
        super().__init__(_core.AioCursor(connection._core), connection, transaction, row_factory, scrollable)

    @property
    async def plan(self) -> str | None:
        """The plan of the last statement, to be awaited; one line for each access path."""
        self._check()
        return await self._core.plan(True)

    async def execute(
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
        """Execute a statement, and wait for its first rows.

        Takes what :meth:`firearrow.Cursor.execute` takes. Errors of those rows are raised when they are
        fetched.

        Returns
        -------
        Cursor
            This one.
        """
        self._begin(sql, model, max_result_rows, max_result_bytes)
        try:
            told = await self._core.execute(
                self._place(), sql, parameters, timeout, parallel, read, self._is_scrollable
            )
            if isinstance(told, _core.AioPrepared):
                told = await told.execute()
        except ProgrammingError as error:
            explain_names(error, sql, parameters)
            raise
        self._note(told)
        return self

    async def executemany(
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
        """Execute a statement for many rows of parameters.

        Takes what :meth:`firearrow.Cursor.executemany` takes. Rows are taken from an iterable some thousand
        at a time, between which other tasks run.

        Raises
        ------
        Error
            The first row's; ``row`` is its number and ``failures`` has all that are known.
        """
        go_on = self._goes_on(on_error)
        self._begin(sql, model, max_result_rows, max_result_bytes)
        place = self._place()
        if place is not None:
            told = await self._send(place, sql, rows, go_on, read)
        else:
            # All rows in one transaction.
            own = self._connection._begin_core()
            try:
                told = await self._send(own, sql, rows, go_on, read)
            except BaseException:
                if own.is_open:
                    await own.rollback()
                raise
            if told[2] and not go_on:
                await own.rollback()
            else:
                await own.commit()
        self._note_many(told, go_on)
        return self

    async def _send(
        self, place: Any, sql: str, rows: object, go_on: bool, read: Mapping[str, str] | None
    ) -> tuple[Any, int, list[tuple[int, Any]]]:
        many = await self._core.executemany(place, sql, rows, go_on, read)
        while True:
            while not many.fill():
                # Let other tasks run.
                await asyncio.sleep(0)
            if (told := await many.send()) is not None:
                return told

    async def ingest(self, data: object, table: str, *, mode: str = "append", text: int | None = None) -> int:
        """Insert Arrow data (pyarrow, polars, pandas 3, DuckDB …) into a table, by column names.

        Takes what :meth:`firearrow.Cursor.ingest` takes, and returns the number of rows. If the task is
        cancelled, rows that were sent are part of the transaction, and a new table stays.
        """
        self._begin("")
        ingestion = self._core.ingestion(data, table, mode, text)
        if self._transaction is not None:
            # It may have begun.
            await ingestion.define(True)
            count = await ingestion.insert(self._transaction._core)
        elif not self._connection.autocommit:
            await ingestion.define(self._connection._has_begun())
            count = await ingestion.insert(self._connection._main_core())
        else:
            await ingestion.define(False)
            own = self._connection._begin_core()
            try:
                count = await ingestion.insert(own)
            except BaseException:
                if own.is_open:
                    await own.rollback()
                raise
            await own.commit()
        self._rowcount = count
        return count

    async def callproc(self, name: str, parameters: Sequence[object] = ()) -> Row:
        """Execute a procedure that is not selectable.

        Parameters
        ----------
        name
            The procedure's name as in SQL: quoted if its letters are not all capitals.

        Returns
        -------
        tuple
            Its outputs; the input parameters if it has none.
        """
        await self.execute(call(name, len(parameters)), tuple(parameters))
        if self._columns is None:
            return tuple(parameters)
        row = await self._next()
        return tuple(parameters) if row is None else row

    async def _next(self) -> Row | None:
        while (row := self._core.next()) is None:
            if not await self._core.read():
                return None
        return row

    async def fetchone(self) -> Any:
        """Return the next row; ``None`` after the last."""
        self._check()
        row = await self._next()
        return row if row is None or self._make is None else self._make(row)

    async def fetchmany(self, size: int | None = None) -> list[Any]:
        """Return up to ``size`` rows (``arraysize`` without it); fewer only at the end."""
        self._check()
        return self._made(await self._rows(self._size(size)))

    async def fetchall(self) -> list[Any]:
        """Return all remaining rows."""
        self._check()
        try:
            return self._made(await self._rows(None))
        except OperationalError as error:
            if error.kind == "TooLarge":
                await self._core.close_result()
            raise

    async def _rows(self, most: int | None) -> list[Row]:
        rows: list[Row] = []
        # An explicit size needs no bound.
        limits = self._limits if most is None else (None, None)
        kept = 0
        try:
            while True:
                kept = self._core.append(rows, None if most is None else most - len(rows), kept, *limits)
                if len(rows) == most or not await self._core.read():
                    return rows
        except BaseException:
            # The task was cancelled: the next rows must not look like all.
            if rows:
                self._core.fail()
            raise

    async def scroll(self, value: int, mode: str = "relative") -> None:
        """Move within the rows of a query, with a cursor that was made with ``scrollable=True``.

        Takes what :meth:`firearrow.Cursor.scroll` takes, and raises the same errors.
        """
        self._check()
        row = self._row(value, mode)
        if not await self._core.scroll(row):
            raise IndexError(f"there is no row {row}")

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        row = await self.fetchone()
        if row is None:
            raise StopAsyncIteration
        return row

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

    async def fetch_pandas(self, **options: Any) -> Any:
        """Return the remaining rows as a ``pandas.DataFrame``; options go to pyarrow's ``to_pandas``.

        Columns of integers with NULL get pandas' nullable types, so that no digit is lost.
        """
        return frame(await self.fetch_arrow_table(), options)

    async def fetch_numpy(self) -> dict[str, Any]:
        """Return the remaining rows as NumPy arrays by column; masked arrays where values are NULL."""
        numpy = library("numpy")  # before the rows are taken
        return masked_arrays(numpy, await self.fetch_arrow_table())

    async def fetch_duckdb(self, connection: Any = None) -> Any:
        """Return the remaining rows as a relation of this DuckDB connection, or of the default one."""
        duckdb = connection if connection is not None else library("duckdb")
        return duckdb.from_arrow(await self.fetch_arrow_table())

    async def fetch_json(self, *, orient: str = "records") -> bytes:
        """Return the remaining rows as JSON: objects, or arrays; see :meth:`firearrow.Cursor.fetch_json`.

        Decimals are numbers with all their digits; times are in ISO 8601, binary values in hexadecimal.
        """
        values = self._is_values(orient)
        return b"".join([piece async for piece in self._json(False, values, *self._limits)])

    def stream_json(self, *, orient: str = "records") -> AsyncGenerator[bytes]:
        """Yield the remaining rows as NDJSON, a row on each line: ``async for piece in …``.

        Pieces are whole lines. The next one is made when it is asked for. With ``orient="values"`` rows are
        arrays; see :meth:`firearrow.Cursor.stream_json`.
        """
        return self._json(True, self._is_values(orient))

    async def _json(
        self, lines: bool, values: bool, rows: int | None = None, size: int | None = None
    ) -> AsyncGenerator[bytes]:
        self._check()
        key = object()
        self._streams[key] = await self._core.json_stream(lines, values, rows, size)
        try:
            while (piece := await self._piece(key)) is not None:
                if piece:
                    yield piece
        finally:
            self._streams.pop(key, None)

    async def _piece(self, key: object) -> bytes | None:
        stream = self._stream(key)
        try:
            return await stream.next()  # type: ignore[no-any-return]
        except ProgrammingError:
            raise
        except BaseException:
            # Its rows may have been taken.
            self._core.fail()
            raise

    async def _batches(self, most: int | None = None) -> _core.Batches:
        self._check()
        limits = self._limits if most is None else (None, None)
        try:
            return await self._core.batches(most, *limits)
        except ProgrammingError:
            raise
        except BaseException as error:
            # Some may have been taken.
            self._core.fail()
            if isinstance(error, OperationalError) and error.kind == "TooLarge":
                await self._core.close_result()
            raise

    async def close(self) -> None:
        """Free the statement and its rows. Closing again does nothing."""
        if not self._is_closed:
            self._is_closed = True
            self._columns = self._description = None
            self._streams.clear()
            await self._core.close()

    async def __aenter__(self) -> Cursor:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

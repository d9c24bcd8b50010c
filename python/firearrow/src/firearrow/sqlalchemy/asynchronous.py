"""The dialect ``firebird+firearrow_async``, for ``create_async_engine``.

SQLAlchemy runs its own code in greenlets, which look blocking to it; what is awaited here suspends the task
that started one. So this gives connections and cursors of ``firearrow.aio`` the faces of PEP 249's.
"""
# pyright: basic
# sqlalchemy-firebird has no annotations.

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlalchemy import pool
from sqlalchemy.engine import URL, AdaptedConnection
from sqlalchemy.exc import MissingGreenlet
from sqlalchemy.util import await_only

import firearrow
from firearrow import aio
from firearrow._pooled import RELEASED

from .dialect import FirearrowDialect, FirearrowExecutionContext

__all__ = ["Adapted", "AdaptedCursor", "AdaptedModule", "FirearrowAsyncDialect"]

T = TypeVar("T")


class AdaptedCursor:
    """A cursor, which has all rows of a result after its execution.

    SQLAlchemy hands them out where nothing can be awaited. The statement is closed by then.
    """

    __slots__ = ("_connection", "_rows", "_taken", "arraysize", "description", "rowcount")

    server_side = False
    lastrowid = None

    def __init__(self, connection: aio.Connection) -> None:
        self._connection = connection
        self._forget()
        self.arraysize = 100

    def _forget(self) -> None:
        self.description: Any = None
        self.rowcount = -1
        self._rows: list[Any] = []
        self._taken = 0

    def execute(self, sql: str, parameters: Any = None) -> None:
        await_only(self._run(sql, parameters, is_many=False))

    def executemany(self, sql: str, rows: Any) -> None:
        await_only(self._run(sql, rows, is_many=True))

    async def _run(self, sql: str, parameters: Any, *, is_many: bool) -> None:
        self._forget()
        async with self._connection.cursor() as cursor:
            await (cursor.executemany if is_many else cursor.execute)(sql, parameters)
            self.description = cursor.description
            if cursor.description is not None:
                self._rows = await cursor.fetchall()
            self.rowcount = cursor.rowcount

    def fetchone(self) -> Any:
        row = next(iter(self._rows[self._taken : self._taken + 1]), None)
        self._taken += row is not None
        return row

    def fetchmany(self, size: int | None = None) -> list[Any]:
        end = self._taken + (self.arraysize if size is None else size)
        rows = self._rows[self._taken : end]
        self._taken += len(rows)
        return rows

    def fetchall(self) -> list[Any]:
        rows = self._rows[self._taken :] if self._taken else self._rows
        self._rows, self._taken = [], 0
        return rows

    def __iter__(self) -> Iterator[Any]:
        while (row := self.fetchone()) is not None:
            yield row

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Do nothing: the server says what types parameters have."""

    def close(self) -> None:
        self._rows = []

    async def _async_soft_close(self) -> None:
        """Do nothing: it is closed; SQLAlchemy calls it before a result leaves the greenlet."""


class AdaptedStream:
    """A cursor that reads rows as they are fetched, for ``AsyncConnection.stream``."""

    __slots__ = ("_cursor",)

    server_side = True
    lastrowid = None

    def __init__(self, connection: aio.Connection) -> None:
        self._cursor = connection.cursor()

    @property
    def description(self) -> Any:
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    @property
    def arraysize(self) -> int:
        return self._cursor.arraysize

    @arraysize.setter
    def arraysize(self, value: int) -> None:
        self._cursor.arraysize = value

    def execute(self, sql: str, parameters: Any = None) -> None:
        await_only(self._cursor.execute(sql, parameters))

    def executemany(self, sql: str, rows: Any) -> None:
        await_only(self._cursor.executemany(sql, rows))

    def fetchone(self) -> Any:
        return await_only(self._cursor.fetchone())

    def fetchmany(self, size: int | None = None) -> list[Any]:
        return await_only(self._cursor.fetchmany(size))

    def fetchall(self) -> list[Any]:
        return await_only(self._cursor.fetchall())

    def __iter__(self) -> Iterator[Any]:
        while (row := self.fetchone()) is not None:
            yield row

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Do nothing: the server says what types parameters have."""

    def close(self) -> None:
        # Where nothing can be awaited, it ends with its object.
        with suppress(MissingGreenlet):
            await_only(self._cursor.close())

    async def _async_soft_close(self) -> None:
        """Leave it open: its rows are still to be read."""


class Adapted(AdaptedConnection):
    """A connection with PEP 249's face; ``driver_connection`` is that of ``firearrow.aio``."""

    __slots__ = ()

    # SQLAlchemy's protocol wants any attribute to be there.
    _connection: aio.Connection  # type: ignore[assignment]

    def __init__(self, connection: aio.Connection) -> None:
        self._connection = connection

    def cursor(self, server_side: bool = False) -> AdaptedCursor | AdaptedStream:
        return (AdaptedStream if server_side else AdaptedCursor)(self._connection)

    @property
    def autocommit(self) -> bool:
        return self._connection.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        if value and self._connection._has_begun():
            await_only(self._connection.set_autocommit(value))
        else:
            self._connection.autocommit = value

    @property
    def isolation(self) -> str | None:
        return self._connection.isolation

    @isolation.setter
    def isolation(self, value: str | None) -> None:
        self._connection.isolation = value

    @property
    def read_only(self) -> bool:
        return self._connection.read_only

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._connection.read_only = value

    @property
    def lock_timeout(self) -> float | None:
        return self._connection.lock_timeout

    @lock_timeout.setter
    def lock_timeout(self, value: float | None) -> None:
        self._connection.lock_timeout = value

    @property
    def closed(self) -> bool:
        return self._connection.closed

    @property
    def is_alive(self) -> bool:
        return self._connection.is_alive

    @property
    def info(self) -> dict[str, Any]:
        return await_only(self._connection.info)

    def commit(self) -> None:
        await_only(self._connection.commit())

    def rollback(self) -> None:
        await_only(self._connection.rollback())

    def ping(self) -> None:
        await_only(self._connection.ping())

    def close(self) -> None:
        await_only(self._connection.close())

    def terminate(self) -> None:
        """Close without waiting: also where nothing can be awaited, and in the garbage collector."""
        if self._connection.closed:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            # It ends with its object, without a warning: SQLAlchemy has given one.
            self._connection._core = RELEASED
            return
        task = loop.create_task(_end(self._connection))
        _ending.add(task)
        task.add_done_callback(_ending.discard)


# What nobody waits for.
_ending: set[asyncio.Task[None]] = set()


async def _end(connection: aio.Connection) -> None:
    with suppress(firearrow.Error):
        await connection.close()


class AdaptedModule:
    """The module, whose ``connect`` awaits, or calls ``async_creator_fn`` of ``create_async_engine``."""

    def __getattr__(self, name: str) -> Any:
        return getattr(firearrow, name)

    def connect(self, *arguments: Any, async_creator_fn: Any = None, **options: Any) -> Adapted:
        opening: Coroutine[Any, Any, aio.Connection] = (async_creator_fn or aio.connect)(
            *arguments, **options
        )
        return Adapted(await_only(opening))


class FirearrowAsyncExecutionContext(FirearrowExecutionContext):
    """One execution."""

    def create_server_side_cursor(self) -> Any:
        connection: Any = self._dbapi_connection
        return connection.cursor(server_side=True)


class FirearrowAsyncDialect(FirearrowDialect):
    """``firebird+firearrow_async``: the same dialect on connections of ``firearrow.aio``."""

    driver = "firearrow_async"
    is_async = True
    has_terminate = True
    supports_statement_cache = True
    supports_server_side_cursors = True
    execution_ctx_cls = FirearrowAsyncExecutionContext

    @classmethod
    def import_dbapi(cls) -> Any:
        return AdaptedModule()

    @classmethod
    def get_pool_class(cls, url: URL) -> type[pool.Pool]:
        return pool.AsyncAdaptedQueuePool

    def get_driver_connection(self, connection: Any) -> Any:
        return connection.driver_connection

    def do_terminate(self, dbapi_connection: Any) -> None:
        dbapi_connection.terminate()

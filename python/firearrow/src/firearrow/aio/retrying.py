"""Transactions that are run again after conflicts.

>>> async def transfer(connection, source, target, amount):
...     await connection.execute("UPDATE account SET balance = balance - ? WHERE id = ?", (amount, source))
...     await connection.execute("UPDATE account SET balance = balance + ? WHERE id = ?", (amount, target))
>>> await aio.retry(connection, lambda connection: transfer(connection, 1, 2, 100), attempts=5)

Which errors count is in ``_retrying.py``, the pauses are in ``_backoff.py``, as for the blocking package.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, overload

from .._backoff import Backoff
from .._retrying import Attempts, arrange, check_options, in_progress
from ..errors import Error
from .connection import Connection
from .pool import Pool

__all__ = ["retry"]

T = TypeVar("T")
P = ParamSpec("P")
Source: TypeAlias = Connection | Pool
Free: TypeAlias = Callable[Concatenate[Source, P], Coroutine[Any, Any, T]]


@overload
def retry(
    source: Source,
    work: Callable[[Connection], Awaitable[T]],
    /,
    *,
    attempts: int = 5,
    timeout: float = 30.0,
    base: float = 0.01,
    cap: float = 1.0,
    **transaction: Any,
) -> Coroutine[Any, Any, T]: ...
@overload
def retry(
    source: Source,
    /,
    *,
    attempts: int = 5,
    timeout: float = 30.0,
    base: float = 0.01,
    cap: float = 1.0,
    **transaction: Any,
) -> Callable[[Callable[Concatenate[Connection, P], Awaitable[T]]], Callable[P, Coroutine[Any, Any, T]]]: ...
@overload
def retry(
    *,
    attempts: int = 5,
    timeout: float = 30.0,
    base: float = 0.01,
    cap: float = 1.0,
    **transaction: Any,
) -> Callable[
    [Callable[Concatenate[Connection, P], Awaitable[T]]],
    Free[P, T],
]: ...
@overload
def retry(function: Callable[Concatenate[Connection, P], Awaitable[T]], /) -> Free[P, T]: ...
def retry(
    source: Any = None,
    work: Callable[..., Any] | None = None,
    /,
    *,
    attempts: int = 5,
    timeout: float = 30.0,
    base: float = 0.01,
    cap: float = 1.0,
    **transaction: Any,
) -> Any:
    """Run a coroutine function in a transaction, and the whole transaction again after a conflict.

    Takes what :func:`firearrow.retry` takes, with connections and pools of ``firearrow.aio``, and is awaited;
    as a decorator it makes coroutine functions. If the task is cancelled, the transaction is rolled back.

    Raises
    ------
    Error
        What the last attempt raised; ``attempts`` in its ``details`` says how many there were.
    """
    backoff = Backoff(attempts, timeout, base, cap)
    check_options(transaction)

    def run(target: Source, function: Callable[[Connection], Awaitable[T]]) -> Coroutine[Any, Any, T]:
        return _run(target, function, backoff, transaction)

    return arrange(source, work, (Connection, Pool), run, _coroutine_function)


def _coroutine_function(call: Callable[..., Any]) -> Callable[..., Any]:
    # Frameworks ask whether a function is one.
    async def coroutine(*arguments: Any, **keywords: Any) -> Any:
        return await call(*arguments, **keywords)

    return coroutine


async def _run(
    source: Source,
    work: Callable[[Connection], Awaitable[T]],
    backoff: Backoff,
    transaction: dict[str, Any],
) -> T:
    attempts = Attempts(backoff, is_replaceable=isinstance(source, Pool))
    while True:
        outcome: list[T] = []
        try:
            async with _lent(source) as connection:
                await _attempt(connection, work, transaction, outcome)
            return outcome[0]
        except Error as error:
            pause = attempts.pause(error, has_outcome=bool(outcome))
        if pause is None:
            return outcome[0]
        await asyncio.sleep(pause)


@asynccontextmanager
async def _lent(source: Source) -> AsyncGenerator[Connection]:
    """A connection for one attempt."""
    if isinstance(source, Connection):
        if source._has_begun():
            raise in_progress()
        source._check_commit()
        yield source
        return
    connection = await source.acquire()
    try:
        yield connection
    finally:
        await connection.close()


async def _attempt(
    connection: Connection,
    work: Callable[[Connection], Awaitable[T]],
    transaction: dict[str, Any],
    outcome: list[T],
) -> None:
    """Run the work in the connection's transaction, and commit."""
    was_autocommit, connection._autocommit = connection._autocommit, False
    try:
        if transaction:
            connection._main = connection.begin(**transaction)._core
        outcome.append(await work(connection))
        await connection.commit()
    except BaseException:
        # The original error is the one worth reporting.
        with suppress(Error):
            await connection.rollback()
        raise
    finally:
        connection._autocommit = was_autocommit

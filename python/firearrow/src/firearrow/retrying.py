"""Transactions that are run again after conflicts.

>>> def transfer(connection, source, target, amount):
...     connection.execute("UPDATE account SET balance = balance - ? WHERE id = ?", (amount, source))
...     connection.execute("UPDATE account SET balance = balance + ? WHERE id = ?", (amount, target))
>>> firearrow.retry(connection, lambda connection: transfer(connection, 1, 2, 100), attempts=5)

Which errors count is in ``_retrying.py``, the pauses are in ``_backoff.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from time import sleep
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar, overload

from ._backoff import Backoff
from ._retrying import Attempts, arrange, check_options, in_progress
from .connection import Connection
from .errors import Error
from .pool import Pool

__all__ = ["retry"]

T = TypeVar("T")
P = ParamSpec("P")
Source: TypeAlias = Connection | Pool


@overload
def retry(
    source: Source,
    work: Callable[[Connection], T],
    /,
    *,
    attempts: int = 5,
    timeout: float = 30.0,
    base: float = 0.01,
    cap: float = 1.0,
    **transaction: Any,
) -> T: ...
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
) -> Callable[[Callable[Concatenate[Connection, P], T]], Callable[P, T]]: ...
@overload
def retry(
    *,
    attempts: int = 5,
    timeout: float = 30.0,
    base: float = 0.01,
    cap: float = 1.0,
    **transaction: Any,
) -> Callable[[Callable[Concatenate[Connection, P], T]], Callable[Concatenate[Source, P], T]]: ...
@overload
def retry(function: Callable[Concatenate[Connection, P], T], /) -> Callable[Concatenate[Source, P], T]: ...
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
    """Run a function in a transaction, and the whole transaction again after a conflict.

    Conflicts are deadlocks, rows that others have changed, and lock timeouts; with a
    pool, lost connections as well. If the outcome of a commit is unknown, nothing is run again.

    The function gets the connection, and its result is returned after the commit. It may run several times:
    it should do nothing but work in the database.

    Parameters
    ----------
    source
        A connection without a transaction in progress, or a :class:`Pool`, from which each attempt borrows.
        Without it, this is a decorator, and the decorated function is called with it.
    work
        The function. Without it, this is a decorator, and its function is called without a connection.
    attempts
        All of them, the first included.
    timeout
        Seconds after which no other attempt begins.
    base, cap
        Seconds. The first pause is a random part of ``base``; the limit doubles up to ``cap``.
    **transaction
        ``isolation``, ``read_only``, ``lock_timeout`` of the transactions; see :meth:`Connection.begin`.

    Raises
    ------
    Error
        What the last attempt raised; ``attempts`` in its ``details`` says how many there were.
    """
    backoff = Backoff(attempts, timeout, base, cap)
    check_options(transaction)

    def run(target: Source, function: Callable[[Connection], T]) -> T:
        return _run(target, function, backoff, transaction)

    return arrange(source, work, (Connection, Pool), run, lambda call: call)


def _run(source: Source, work: Callable[[Connection], T], backoff: Backoff, transaction: dict[str, Any]) -> T:
    attempts = Attempts(backoff, is_replaceable=isinstance(source, Pool))
    while True:
        outcome: list[T] = []
        try:
            with _lent(source) as connection:
                _attempt(connection, work, transaction, outcome)
            return outcome[0]
        except Error as error:
            pause = attempts.pause(error, has_outcome=bool(outcome))
        if pause is None:
            return outcome[0]
        sleep(pause)


@contextmanager
def _lent(source: Source) -> Generator[Connection]:
    """A connection for one attempt."""
    if isinstance(source, Connection):
        if source._has_begun():
            raise in_progress()
        source._check_commit()
        yield source
        return
    connection = source.acquire()
    try:
        yield connection
    finally:
        connection.close()


def _attempt(
    connection: Connection, work: Callable[[Connection], T], transaction: dict[str, Any], outcome: list[T]
) -> None:
    """Run the work in the connection's transaction, and commit."""
    was_autocommit, connection._autocommit = connection._autocommit, False
    try:
        if transaction:
            connection._main = connection.begin(**transaction)._core
        outcome.append(work(connection))
        connection.commit()
    except BaseException:
        # The original error is the one worth reporting.
        with suppress(Error):
            connection.rollback()
        raise
    finally:
        connection._autocommit = was_autocommit


# As in __init__.py: what users import.
retry.__module__ = "firearrow"

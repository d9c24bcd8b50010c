"""A pool of connections for tasks.

>>> async with aio.Pool("firebird://SYSDBA@localhost/employee", password="masterkey", max_size=20) as pool:
...     async with pool.connection() as connection:
...         await connection.execute("UPDATE country SET currency = 'Euro' WHERE country = 'Croatia'")

``docs/python-pool.md`` describes it. What it decides is in ``_pooling.py``, as for threads. It has no thread:
what it does in the background are tasks and timers of the event loop.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from contextvars import Context
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any, TypeAlias, TypeVar

from .. import _core
from .._base import engine_release
from .._pooled import PATIENCE, PoolBase, Pooled
from .._pooling import Limits, Member, PoolStats, Waiter
from ..errors import Error, InterfaceError
from ._loop import running_loop
from .connection import Connecting, Connection
from .cursor import Cursor
from .transaction import Transaction

__all__ = ["Pool", "PooledConnection"]

T = TypeVar("T")
_Member: TypeAlias = Member["_core.AioConnection"]

# Event loops refuse timers of more.
_YEAR = 365 * 86_400.0


class PooledConnection(Pooled[_core.AioConnection, _core.AioTransaction], Connection):
    """A connection that is borrowed from a pool. Closing it gives it back.

    What was opened on it ends then: transactions are rolled back; cursors, events and BLOBs are closed.
    """

    _pool: Pool

    def __init__(self, pool: Pool, member: _Member, settings: dict[str, Any]) -> None:
        super().__init__(pool, member, settings)
        self._closing: list[_core.Operation[None]] = []

    @property
    def pool(self) -> Pool:
        """The pool that it was borrowed from."""
        return self._pool

    async def set_timeouts(self, *, statement: float | None = None, idle: float | None = None) -> None:
        """Let the server end statements, or the idle connection, after these seconds; until release."""
        self._changed()
        await super().set_timeouts(statement=statement, idle=idle)

    async def reset(self) -> None:
        """Roll back, and undo settings of the session, those of the pool's ``configure`` included."""
        self._changed()
        await super().reset()

    async def close(self) -> None:
        """Give it back to its pool. Closing again does nothing."""
        await self._pool._give_back(self)

    async def __aenter__(self) -> PooledConnection:
        return self

    def _settle(self) -> None:
        """Close cursors that need no server for it, such as those whose rows were all read."""
        for dependent in self._take_dependents():
            if isinstance(dependent, Transaction):
                if dependent.is_open:
                    self._adopt(dependent)
            elif not isinstance(dependent, Cursor):
                if not dependent.closed:
                    self._adopt(dependent)
            elif dependent._is_closed:
                continue
            elif dependent._columns is None or dependent._core.fetched()[1]:
                dependent._is_closed, dependent._columns, dependent._description = True, None, None
                dependent._streams.clear()
                closing = dependent._core.close()
                if not _is_over(closing):
                    self._closing.append(closing)
            else:
                self._adopt(dependent)

    def _has_left(self) -> bool:
        return bool(self._closing) or super()._has_left()

    async def _end(self) -> None:
        """End what was begun on it. Most of the time, nothing is left."""
        for closing in self._closing:
            await closing
        main, self._main = self._main, None
        if main is not None and main.is_open:
            await main.rollback()
        # Transactions first: it makes closing results cheap.
        left = self._take_dependents()
        for dependent in left:
            if isinstance(dependent, Transaction) and dependent._core.is_open and not dependent._is_prepared:
                await dependent._core.rollback()
        for dependent in left:
            if not isinstance(dependent, Transaction):
                await dependent.close()


class Pool(PoolBase[_core.AioConnection]):
    """Connections that tasks borrow and give back.

    It belongs to the event loop in which it is used first; after that one was closed, to the next one.

    Parameters
    ----------
    configure
        Called with each connection after it was opened, and after its session was reset; what it returns is
        awaited.
    database, min_size, max_size, acquire_timeout, idle_timeout, max_lifetime, check_after, reset, **options
        As of :class:`firearrow.Pool`.

    Raises
    ------
    InterfaceError
        An option has an impossible value.
    """

    def __init__(
        self,
        database: str | os.PathLike[str] | None = None,
        *,
        min_size: int = 0,
        max_size: int = 10,
        acquire_timeout: float = 30.0,
        idle_timeout: float = 600.0,
        max_lifetime: float = 3600.0,
        check_after: float = 30.0,
        reset: str = "auto",
        configure: Callable[[Connection], object] | None = None,
        **options: Any,
    ) -> None:
        limits = Limits(min_size, max_size, acquire_timeout, idle_timeout, max_lifetime, check_after, reset)
        super().__init__(database, configure, options, limits)
        # Without a running loop, it begins with its first use.
        with suppress(InterfaceError):
            self._enter()

    def _start(self, limits: Limits) -> None:
        super()._start(limits)
        # Timers do not keep it alive.
        self._reference: weakref.ref[Pool] = weakref.ref(self)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None
        # What runs in the background, and the connection that it holds.
        self._tasks: dict[asyncio.Task[Any], _Member | None] = {}
        self._observers: set[asyncio.Future[None]] = set()
        # Who waits for a connection, or has got one and was not yet resumed.
        self._waiters: set[Waiter[_core.AioConnection]] = set()
        # Connections whose borrowers are gone.
        self._inbox: deque[_Member] = deque()

    # What users see.

    @property
    def stats(self) -> PoolStats:
        """Connections and waiters now, and counters since the pool was made."""
        return self._policy.stats()

    def connection(self, timeout: float | None = None) -> AbstractAsyncContextManager[PooledConnection]:
        """Lend a connection for a block: commits at its end, rolls back if an error leaves it.

        Parameters
        ----------
        timeout
            Seconds to wait for it, in place of ``acquire_timeout``.
        """
        return _Loan(self, timeout)

    async def acquire(self, timeout: float | None = None) -> PooledConnection:
        """Borrow a connection; give it back with :meth:`release` or its ``close``.

        A task that is cancelled while it waits leaves nothing behind.

        Parameters
        ----------
        timeout
            Seconds to wait for it, in place of ``acquire_timeout``; 0 = only one that is idle.

        Raises
        ------
        PoolTimeout
            None became free in time, or the server cannot be reached.
        PoolClosed
            The pool is closed.
        Error
            A connection cannot be opened for a reason that does not pass, such as a wrong password.
        """
        self._enter()
        state = self._policy
        start = monotonic()
        seconds = state.limits.acquire_timeout if timeout is None else timeout
        is_first = False
        while True:
            member = state.take()
            if member is None:
                member = await self._wait(is_first, start + seconds, seconds)
            if member.connection.is_alive and (
                self._is_recent(member) or await self._check(member, start + seconds)
            ):
                return PooledConnection(self, member, self._settings)
            state.note_dead()
            self._put(member, False)
            # Its place is still before those who came later.
            is_first = True

    async def release(self, connection: Connection) -> None:
        """Take a borrowed connection back. What is open on it ends; releasing again does nothing.

        If the task is cancelled meanwhile, that goes on in the background.
        """
        if not isinstance(connection, PooledConnection) or connection._pool is not self:
            raise InterfaceError("the connection is not from this pool")
        await self._give_back(connection)

    async def wait(self, timeout: float = 30.0) -> None:
        """Wait until ``min_size`` connections are open.

        Raises
        ------
        PoolTimeout
            They are not after so many seconds; ``__cause__`` says why.
        """
        self._enter()
        self._attend(self._policy.reserve(monotonic()))
        if not await self._until(lambda: not self._is_missing(), timeout):
            raise self._missing(timeout)
        self._check_open()

    def resize(self, min_size: int | None = None, max_size: int | None = None) -> None:
        """Change the limits. Surplus connections are closed as soon as they become idle."""
        self._limit(min_size, max_size)
        if self._loop is not None:
            self._enter()
            self._tend()

    async def close(self, timeout: float = 10.0) -> None:
        """Close all connections. Closing again does nothing.

        Callers waiting for a connection get PoolClosed.

        Parameters
        ----------
        timeout
            Seconds to wait for connections in use; then they are closed, and what they run is cancelled.
        """
        state = self._policy
        if state.is_closed and not state.size:
            return
        self._enter()
        state.close()
        self._tend()
        if not await self._until(lambda: not state.size, timeout):
            for member in state.in_use:
                # Somebody uses it.
                self._spawn(_close(member.connection), partial(self._killed, member))
            await self._until(lambda: not state.size, PATIENCE)
        if self._timer is not None:
            self._timer.cancel()

    async def __aenter__(self) -> Pool:
        self._enter()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # Borrowing and giving back.

    async def _wait(self, is_first: bool, end: float, seconds: float) -> _Member:
        state, loop = self._policy, self._enter()
        arrival: asyncio.Future[None] = loop.create_future()
        waiter: Waiter[_core.AioConnection] = Waiter(partial(_wake, arrival), monotonic())
        self._waiters.add(waiter)
        state.wait(waiter, is_first=is_first)
        self._attend(state.reserve(waiter.since))
        timer = loop.call_later(min(max(0.0, end - monotonic()), _YEAR), waiter.wake)
        try:
            await arrival
        except BaseException:
            # Cancelled, perhaps at the moment at which it has got one: the next one's turn.
            if waiter.member is not None:
                self._put(waiter.member, True)
            raise
        finally:
            timer.cancel()
            self._waiters.discard(waiter)
            state.leave(waiter, monotonic())
        if waiter.member is not None:
            return waiter.member
        if waiter.error is not None:
            raise waiter.error
        raise state.timed_out(seconds)

    async def _check(self, member: _Member, end: float) -> bool:
        """Ask the server. It answers in the background if the borrower is cancelled."""
        seconds = min(PATIENCE, max(0.1, end - monotonic()))
        task = self._spawn(self._ping(member.connection, seconds), None, member)
        try:
            return await asyncio.shield(task)
        except BaseException:
            task.add_done_callback(partial(self._cleaned, member))
            raise

    @staticmethod
    async def _ping(core: _core.AioConnection, seconds: float) -> bool:
        try:
            await asyncio.wait_for(core.ping(), seconds)
        except (Error, asyncio.TimeoutError):
            return False
        return True

    async def _give_back(self, connection: PooledConnection) -> None:
        if connection._member is None:
            return
        if self._process == os.getpid():
            self._enter()
        left = connection._leave()
        if left is None or left[0].state is not self._state:
            # Borrowed before a fork: it belongs to the parent process.
            return
        member, core = left
        connection._settle()
        # Whether it works is looked at when it is lent again.
        if not self._is_to_clean(connection, member):
            self._put(member, True)
            return
        done = partial(self._cleaned, member)
        await asyncio.shield(self._spawn(self._clean(connection, member, core), done, member))

    async def _clean(
        self, connection: PooledConnection | None, member: _Member, core: _core.AioConnection
    ) -> bool:
        """Make a connection as new; ``False`` = that cannot be done."""
        try:
            return await asyncio.wait_for(self._renewed(connection, member, core), PATIENCE)
        except (Error, asyncio.TimeoutError):
            return False

    async def _renewed(
        self, connection: PooledConnection | None, member: _Member, core: _core.AioConnection
    ) -> bool:
        if connection is None:
            # Nobody knows what is open on it; a reset ends every transaction, too.
            return core.is_alive and await self._can_reset(core) and await self._reset(member, core)
        await connection._end()
        if connection._undecided:
            # Once its connection has ended, others can decide.
            return False
        needs_reset = self._needs_reset(connection, member)
        return (not needs_reset or await self._reset(member, core)) and core.is_alive

    async def _reset(self, member: _Member, core: _core.AioConnection) -> bool:
        if not await self._can_reset(core):
            # Only a new connection is without settings.
            self._policy.resets += member.has_changed
            return not member.has_changed
        await core.reset()
        self._policy.resets += 1
        await self._prepare(core)
        member.has_changed = False
        return True

    async def _can_reset(self, core: _core.AioConnection) -> bool:
        if self._is_modern is None:
            info = await core.info()
            self._is_modern = engine_release(info) >= 4
        return self._is_modern

    def _cleaned(self, member: _Member, task: asyncio.Task[bool]) -> None:
        self._put(member, not task.cancelled() and task.exception() is None and task.result())

    def _killed(self, member: _Member, task: asyncio.Task[None]) -> None:
        self._put(member, False)

    def _put(self, member: _Member, is_usable: bool) -> None:
        """Take a connection back that is as new, or not usable."""
        state = self._policy
        now = monotonic()
        if not state.give_back(member, is_usable, now):
            self._spawn(_close(member.connection), self._closed)
        self._attend(state.reserve(now))
        self._tell()

    def _lost(self, member: _Member) -> None:
        self._inbox.append(member)
        # The loop may be closed, or that of the parent of a forked process.
        if self._loop is not None and self._process == os.getpid():
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_tend, self._reference)

    # Opening and closing.

    def _attend(self, number: int) -> None:
        """Open as many connections in the background."""
        for _ in range(number):
            self._spawn(self._open(), self._opened)

    async def _open(self) -> _core.AioConnection:
        core: _core.AioConnection
        core, settings = self._strip(await Connecting(self._request))
        try:
            self._settings = self._settings or settings
            await self._prepare(core)
        except BaseException:
            await _close(core)
            raise
        return core

    def _opened(self, task: asyncio.Task[_core.AioConnection]) -> None:
        state = self._policy
        now = monotonic()
        if task.cancelled():
            # Only by the end of the loop.
            state.note_open_abandoned()
        elif (error := task.exception()) is not None:
            state.note_open_failed(error, now)
            # To try again.
            self._tend()
        else:
            core = task.result()
            if state.note_opened(core, now) is None:
                self._spawn(_close(core), self._closed)
            self._attend(state.reserve(now))
        self._tell()

    def _closed(self, task: asyncio.Task[None]) -> None:
        state = self._policy
        state.gone()
        self._attend(state.reserve(monotonic()))
        self._tell()

    async def _prepare(self, core: _core.AioConnection) -> None:
        """Let the user configure a connection."""
        if self._configure is None:
            return
        connection = PooledConnection(self, Member(core, self._policy, 0.0, 0.0), self._settings)
        try:
            made = self._configure(connection)
            if inspect.isawaitable(made):
                await made
            if connection._main is not None:
                await connection.commit()
        finally:
            connection._leave()
            await connection._end()

    # In the background.

    def _enter(self) -> asyncio.AbstractEventLoop:
        """Return the running loop, which is the pool's."""
        loop = running_loop()
        if loop is self._loop:
            return loop
        if self._loop is not None:
            if not self._loop.is_closed():
                raise InterfaceError(
                    "the pool belongs to another event loop, which is not closed: make a pool for each loop"
                )
            for waiter in self._waiters:
                # Nobody resumes it, and perhaps somebody keeps its task.
                if waiter.member is not None:
                    self._policy.give_back(waiter.member, False, monotonic())
                    waiter.member = None
            self._waiters.clear()
            for member in filter(None, self._tasks.values()):
                self._policy.give_back(member, False, monotonic())
            self._policy.abandon()
            self._tasks.clear()
            self._observers.clear()
        self._loop = loop
        self._tend()
        return loop

    def _spawn(
        self,
        work: Coroutine[Any, Any, T],
        done: Callable[[asyncio.Task[T]], object] | None = None,
        member: _Member | None = None,
    ) -> asyncio.Task[T]:
        """Run something in a task of its own, which the cancelling of others does not reach."""
        assert self._loop is not None
        # Variables of the task that happens to need it do not belong to what outlives it.
        task: asyncio.Task[T] = Context().run(self._loop.create_task, work)
        self._tasks[task] = member
        task.add_done_callback(self._tasks.pop)
        if done is not None:
            task.add_done_callback(done)
        return task

    def _tend(self) -> None:
        """Do what is due, and come back when there is more."""
        assert self._loop is not None
        state = self._policy
        while self._inbox:
            member = self._inbox.popleft()
            if member.state is state:
                done = partial(self._cleaned, member)
                self._spawn(self._clean(None, member, member.connection), done, member)
        now = monotonic()
        for expired in state.expired(now):
            self._spawn(_close(expired.connection), self._closed)
        self._attend(state.reserve(now))
        if self._timer is not None:
            self._timer.cancel()
        if state.is_closed:
            return
        # Those that come back meanwhile wake nobody.
        limits = state.limits
        pause = max(0.05, min(state.next_event(now), limits.idle_timeout, limits.max_lifetime, _YEAR))
        self._timer = self._loop.call_later(pause, _tend, self._reference)

    def _tell(self) -> None:
        """Wake those that wait for a change."""
        for observer in self._observers:
            _wake(observer)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Wait for a change that makes something true; ``False`` = the time is up."""
        loop = self._enter()
        end = monotonic() + seconds
        while not condition():
            if (left := end - monotonic()) <= 0:
                return False
            change: asyncio.Future[None] = loop.create_future()
            self._observers.add(change)
            try:
                await asyncio.wait((change,), timeout=min(left, _YEAR))
            finally:
                self._observers.discard(change)
        return True

    def _finish(self) -> None:
        # There is no loop any more, and the engine rolls back what was left open.
        self._policy.close()


class _Loan:
    """The block of :meth:`Pool.connection`."""

    __slots__ = ("_connection", "_pool", "_timeout")

    def __init__(self, pool: Pool, timeout: float | None) -> None:
        self._pool = pool
        self._timeout = timeout

    async def __aenter__(self) -> PooledConnection:
        self._connection = await self._pool.acquire(self._timeout)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._connection
        try:
            if kind is None and connection._main is not None:
                await connection.commit()
        finally:
            # Rolls back what is not committed.
            await self._pool._give_back(connection)


def _is_over(operation: _core.Operation[None]) -> bool:
    """Whether a call had its result from the start."""
    try:
        next(operation.__await__())
    except StopIteration:
        return True
    except Exception:
        # It is raised again where the call is awaited.
        return False
    return False


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _tend(reference: weakref.ref[Pool]) -> None:
    """Look after a pool, unless it is gone."""
    pool = reference()
    if pool is not None and pool._loop is not None and not pool._loop.is_closed():
        pool._tend()


async def _close(core: _core.AioConnection) -> None:
    """Disconnect. Errors are ignored: the server may already be gone."""
    with suppress(Error, asyncio.TimeoutError):
        await asyncio.wait_for(core.close(), PATIENCE)

"""A pool of connections for threads.

>>> with firearrow.Pool("firebird://SYSDBA@localhost/employee", password="masterkey", max_size=20) as pool:
...     with pool.connection() as connection:
...         connection.execute("UPDATE country SET currency = 'Euro' WHERE country = 'Croatia'")

``docs/python-pool.md`` describes it. What it decides is in ``_pooling.py``.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import monotonic
from types import TracebackType
from typing import Any, TypeAlias

from . import _core
from ._base import engine_release
from ._pooled import PATIENCE, PoolBase, Pooled
from ._pooling import Limits, Member, PoolClosed, PoolStats, PoolTimeout, State, Waiter
from .connection import Connection, open_requested
from .errors import Error, InterfaceError, ProgrammingError
from .transaction import Transaction

__all__ = ["Pool", "PoolClosed", "PoolStats", "PoolTimeout", "PooledConnection"]

_Member: TypeAlias = Member["_core.Connection"]
# A connection that has come back, and whether its borrower has forgotten it; without one, a request to look.
_Errand: TypeAlias = tuple["_Member | None", bool]
_LOOK: _Errand = (None, False)

# Seconds after which the background thread looks after rollbacks that hang.
_ROUND = 5.0


class PooledConnection(Pooled[_core.Connection, _core.Transaction], Connection):
    """A connection that is borrowed from a pool. Closing it gives it back.

    What was opened on it ends then: transactions are rolled back; cursors, events, BLOBs and parts of queries
    are closed. Streams that Arrow consumers still read fail: if they do not belong to one of these
    transactions (in autocommit mode, and of ``read_partition``), the session is reset for it.
    """

    _pool: Pool

    @property
    def pool(self) -> Pool:
        """The pool that it was borrowed from."""
        return self._pool

    def set_timeouts(self, *, statement: float | None = None, idle: float | None = None) -> None:
        """Let the server end statements, or the idle connection, after these seconds; until release."""
        self._changed()
        super().set_timeouts(statement=statement, idle=idle)

    def reset(self) -> None:
        """Roll back, and undo settings of the session, those of the pool's ``configure`` included."""
        self._changed()
        super().reset()

    def close(self) -> None:
        """Give it back to its pool. Closing again does nothing."""
        self._pool._give_back(self)

    def __enter__(self) -> PooledConnection:
        return self

    def _end(self) -> None:
        """End what was begun on it. Most of the time, nothing is left."""
        main, self._main = self._main, None
        if main is not None and main.is_open:
            main.rollback()
        # Transactions first: it makes closing results cheap.
        for lent in self._lent:
            if lent.is_open:
                lent.rollback()
        left = self._take_dependents()
        for dependent in left:
            if isinstance(dependent, Transaction) and dependent._core.is_open and not dependent._is_prepared:
                dependent._core.rollback()
        for dependent in left:
            if not isinstance(dependent, Transaction):
                dependent.close()


class Pool(PoolBase[_core.Connection]):
    """Connections that threads borrow and give back.

    Parameters
    ----------
    database, **options
        What :func:`firearrow.connect` takes.
    min_size
        Connections that are opened in the background, and kept when they are idle.
    max_size
        The most that are open at any time.
    acquire_timeout
        Seconds to wait for a connection before PoolTimeout is raised.
    idle_timeout
        Seconds after which an idle connection is closed, unless ``min_size`` keeps it.
    max_lifetime
        Seconds after which a connection is replaced when it comes back, or is idle.
    check_after
        Seconds of idleness after which the server is asked whether a connection works before it is lent,
        which costs a round trip. A socket that was closed is always noticed, which costs none.
    reset
        When a session is reset on release, so that the next borrower finds it as new. ``"auto"``: if a
        statement has changed it, as far as its text shows (``SET ROLE``, ``RDB$SET_CONTEXT`` …).
        ``"always"``: also for what procedures and triggers may have done; a round trip each time.
        ``"never"``. Firebird 3 cannot reset sessions: there, a connection that was changed is replaced.
    configure
        Called with each connection after it was opened, and after its session was reset.

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
        # First, for __del__.
        self._inbox: SimpleQueue[_Errand | None] = SimpleQueue()
        limits = Limits(min_size, max_size, acquire_timeout, idle_timeout, max_lifetime, check_after, reset)
        super().__init__(database, configure, options, limits)
        if min_size:
            self._tell(_LOOK)

    def _start(self, limits: Limits) -> None:
        super()._start(limits)
        # It knows its owner: signal handlers and finalisers come while their own thread has it.
        self._lock = threading.RLock()
        self._change = threading.Condition(self._lock)
        self._observers = 0
        # Rollbacks and resets that run, and when they are cancelled.
        self._watched: dict[_core.Connection, float] = {}
        self._inbox = SimpleQueue()
        self._keeper: threading.Thread | None = None
        self._starting = threading.RLock()

    # What users see.

    @property
    def stats(self) -> PoolStats:
        """Connections and waiters now, and counters since the pool was made."""
        # In a signal handler, they may be those of a moment in between.
        with self._lock:
            return self._policy.stats()

    def connection(self, timeout: float | None = None) -> AbstractContextManager[PooledConnection]:
        """Lend a connection for a block: commits at its end, rolls back if an error leaves it.

        Parameters
        ----------
        timeout
            Seconds to wait for it, in place of ``acquire_timeout``.
        """
        return _Loan(self, timeout)

    def acquire(self, timeout: float | None = None) -> PooledConnection:
        """Borrow a connection; give it back with :meth:`release` or its ``close``.

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
        self._check_entry()
        state = self._policy
        start = monotonic()
        seconds = state.limits.acquire_timeout if timeout is None else timeout
        is_first = False
        while True:
            with self._lock:
                member = state.take()
            if member is None:
                member = self._wait(state, is_first, start + seconds, seconds)
            try:
                if self._is_usable(member, start + seconds):
                    return PooledConnection(self, member, self._settings)
            except BaseException:
                self._return(member, False)
                raise
            with self._lock:
                state.note_dead()
            self._return(member, False)
            # Its place is still before those who came later.
            is_first = True

    def release(self, connection: Connection) -> None:
        """Take a borrowed connection back. What is open on it ends; releasing again does nothing."""
        if not isinstance(connection, PooledConnection) or connection._pool is not self:
            raise InterfaceError("the connection is not from this pool")
        self._give_back(connection)

    def wait(self, timeout: float = 30.0) -> None:
        """Wait until ``min_size`` connections are open.

        Raises
        ------
        PoolTimeout
            They are not after so many seconds; ``__cause__`` says why.
        """
        self._check_entry()
        end = monotonic() + timeout
        self._tell(_LOOK)
        with self._lock:
            while self._is_missing():
                if not self._observe(end - monotonic()):
                    raise self._missing(timeout)
        self._check_open()

    def resize(self, min_size: int | None = None, max_size: int | None = None) -> None:
        """Change the limits. Surplus connections are closed as soon as they become idle."""
        self._check_entry()
        with self._lock:
            self._limit(min_size, max_size)
        self._tell(_LOOK)

    def close(self, timeout: float = 10.0) -> None:
        """Close all connections. Closing again does nothing.

        Callers waiting for a connection get PoolClosed.

        Parameters
        ----------
        timeout
            Seconds to wait for connections in use; then they are closed, and what they run is cancelled.
        """
        self._check_entry()
        state = self._policy
        with self._lock:
            if state.is_closed and not state.size:
                return
            state.close()
        self._tell(_LOOK)
        end = monotonic() + timeout
        with self._lock:
            while state.size and self._observe(end - monotonic()):
                pass
            left = state.in_use
        for member in left:
            self._spawn(self._kill, member)
        if left:
            end = monotonic() + PATIENCE
            with self._lock:
                while state.size and self._observe(end - monotonic()):
                    pass
        # It ends.
        self._inbox.put(_LOOK)

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self._inbox.put(None)
        super().__del__()

    # Borrowing and giving back.

    def _wait(self, state: State[_core.Connection], is_first: bool, end: float, seconds: float) -> _Member:
        gate = threading.Lock()
        gate.acquire()
        waiter: Waiter[_core.Connection] = Waiter(partial(_open_gate, gate), monotonic())
        try:
            with self._lock:
                # It may have come back in between.
                member = state.take()
                if member is not None:
                    return member
                state.wait(waiter, is_first=is_first)
            if state.may_open:
                self._tell(_LOOK)
            gate.acquire(timeout=min(max(0.0, end - monotonic()), threading.TIMEOUT_MAX))
            with self._lock:
                state.leave(waiter, monotonic())
                if waiter.member is None and waiter.error is None:
                    waiter.error = state.timed_out(seconds)
        except BaseException:
            # Ctrl+C. Perhaps it has got one at this moment.
            with self._lock:
                state.leave(waiter, monotonic())
            if waiter.member is not None:
                self._return(waiter.member, True)
            raise
        if waiter.member is not None:
            return waiter.member
        assert waiter.error is not None
        raise waiter.error

    def _is_usable(self, member: _Member, end: float) -> bool:
        core = member.connection
        if not core.is_alive:
            return False
        if self._is_recent(member):
            return True
        try:
            core.ping(min(PATIENCE, max(0.1, end - monotonic())))
        except Error:
            return False
        return True

    def _has_lock(self) -> bool:
        """Whether this is a signal handler or a finaliser within the pool's own code."""
        lock: Any = self._lock
        return bool(lock._is_owned())

    def _check_entry(self) -> None:
        if self._has_lock():
            raise ProgrammingError(
                "a signal handler or finaliser has interrupted the pool, and cannot wait for it:"
                " let another thread do it"
            )

    def _give_back(self, connection: PooledConnection) -> None:
        with self._lock:
            left = connection._leave()
        if left is None:
            return
        member, core = left
        if self._has_lock():
            # Taking it back now would change what the interrupted code works on.
            self._lost(member)
            return
        if member.state is not self._state:
            # Borrowed before a fork: it belongs to the parent process.
            return
        is_usable = False
        try:
            # Whether it works is looked at when it is lent again.
            is_usable = self._clean(connection, member, core)
        finally:
            self._return(member, is_usable)

    def _clean(self, connection: PooledConnection, member: _Member, core: _core.Connection) -> bool:
        """Make a connection as new; ``False`` = that cannot be done."""
        try:
            self._watched[core] = monotonic() + PATIENCE
            if not self._is_to_clean(connection, member):
                return True
            connection._end()
            if connection._undecided:
                # Once its connection has ended, others can decide.
                return False
            needs_reset = self._needs_reset(connection, member)
            return (not needs_reset or self._reset(member, core)) and core.is_alive
        except Error:
            return False
        finally:
            self._watched.pop(core, None)

    def _reset(self, member: _Member, core: _core.Connection) -> bool:
        if not self._can_reset(core):
            # Only a new connection is without settings.
            if member.has_changed:
                with self._lock:
                    self._policy.resets += 1
            return not member.has_changed
        core.reset()
        with self._lock:
            self._policy.resets += 1
        if self._configure is not None:
            self._prepare(core)
        member.has_changed = False
        return True

    def _can_reset(self, core: _core.Connection) -> bool:
        if self._is_modern is None:
            self._is_modern = engine_release(core.info()) >= 4
        return self._is_modern

    def _return(self, member: _Member, is_usable: bool) -> None:
        """Take a connection back from a borrower, in whose thread signal handlers may raise."""
        state = member.state
        with self._lock:
            is_kept = is_usable and state.keep(member, monotonic())
            if not is_kept:
                state.refuse(member)
            if self._observers:
                self._change.notify_all()
        if not is_kept:
            self._tell((member, False))
        elif state.may_open:
            self._tell(_LOOK)

    def _put(self, member: _Member, is_usable: bool) -> None:
        """Take a connection back in the background."""
        state = member.state
        now = monotonic()
        with self._lock:
            is_kept = state.give_back(member, is_usable, now)
            number = state.reserve(now) if state.waiters or not is_kept else 0
            if self._observers:
                self._change.notify_all()
        if not is_kept:
            self._spawn(self._close_member, member)
        if number:
            self._attend(number)

    # Opening and closing.

    def _attend(self, number: int) -> None:
        """Open as many connections in the background."""
        if not number:
            return
        self._keep()
        for _ in range(number):
            self._spawn(self._open_one)

    def _open_one(self) -> None:
        state = self._policy
        try:
            connection = open_requested(self._request)
            core, settings = self._strip(connection)
            try:
                if not self._settings:
                    self._settings = settings
                if self._configure is not None:
                    self._prepare(core)
            except BaseException:
                _close(core)
                raise
        except BaseException as error:
            with self._lock:
                state.note_open_failed(error, monotonic())
                self._change.notify_all()
            # It knows when to try again.
            self._inbox.put(_LOOK)
            return
        with self._lock:
            member = state.note_opened(core, monotonic())
            number = state.reserve(monotonic())
            self._change.notify_all()
        self._attend(number)
        if member is None:
            self._close_core(state, core)

    def _prepare(self, core: _core.Connection) -> None:
        """Let the user configure a connection."""
        assert self._configure is not None
        member: _Member = Member(core, self._policy, 0.0, 0.0)
        connection = PooledConnection(self, member, self._settings)
        try:
            self._configure(connection)
            if connection._main is not None:
                connection.commit()
        finally:
            with self._lock:
                connection._leave()
            connection._end()

    def _close_member(self, member: _Member) -> None:
        self._close_core(member.state, member.connection)

    def _close_core(self, state: State[_core.Connection], core: _core.Connection) -> None:
        try:
            _close(core)
        finally:
            with self._lock:
                state.gone()
                number = state.reserve(monotonic())
                self._change.notify_all()
            self._attend(number)

    def _kill(self, member: _Member) -> None:
        """Close a connection that somebody uses."""
        _close(member.connection)
        self._put(member, False)

    def _clean_up(self, member: _Member) -> None:
        """Look after a connection whose borrower is gone without giving it back."""
        core = member.connection
        is_usable = False
        if core.is_alive:
            self._watched[core] = monotonic() + PATIENCE
            # It ends every transaction, too.
            with suppress(Error):
                is_usable = self._can_reset(core) and self._reset(member, core)
            self._watched.pop(core, None)
        self._put(member, is_usable)

    # In the background.

    def _tell(self, errand: _Errand) -> None:
        """Let the background thread do something, whom no signal handler interrupts."""
        self._inbox.put(errand)
        if not self._keep():
            # The interpreter is about to exit.
            with suppress(Empty):
                while True:
                    self._tend(self._inbox.get_nowait() or _LOOK)

    def _keep(self) -> bool:
        """Start the thread that closes what is old, unless it runs; ``False`` = that is not possible."""
        lock: Any = self._starting
        if lock._is_owned():
            # The code that this signal handler or finaliser has interrupted is doing it.
            return True
        with self._starting:
            if self._keeper is not None and self._keeper.is_alive():
                return True
            keeper = threading.Thread(
                target=_keep, args=(weakref.ref(self), self._inbox), name="firearrow pool", daemon=True
            )
            try:
                self._keeper = keeper
                keeper.start()
            except RuntimeError:
                # The interpreter is about to exit.
                self._keeper = None
                return False
            return True

    def _spawn(self, work: Callable[..., None], *arguments: Any) -> None:
        """Run what may take long in a thread of its own."""
        thread = threading.Thread(target=work, args=arguments, name="firearrow pool work", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The interpreter is about to exit, or there are too many threads.
            work(*arguments)

    def _tend(self, errand: _Errand) -> float:
        """Do what is due, and return the seconds until the next time."""
        state = self._policy
        member, is_lost = errand
        if member is not None and member.state is state:
            if is_lost:
                self._spawn(self._clean_up, member)
            else:
                self._put(member, False)
        now = monotonic()
        for core, end in list(self._watched.items()):
            if end < now:
                core.cancel()
        with self._lock:
            old = state.expired(now)
            number = state.reserve(now)
            pause = state.next_event(now)
            # Those that come back meanwhile wake nobody.
            limits = state.limits
            pause = min(pause, _ROUND, limits.idle_timeout, limits.max_lifetime)
        for expired in old:
            self._spawn(self._close_member, expired)
        self._attend(number)
        return max(0.05, pause)

    def _has_ended(self) -> bool:
        """Whether the background thread has nothing to do any longer, and may end."""
        state = self._policy
        if not state.is_closed or state.size:
            return False
        # Late borrowers leave an errand before they look whether the thread runs.
        with self._starting:
            if not self._inbox.empty():
                return False
            self._keeper = None
            return True

    def _observe(self, seconds: float) -> bool:
        """Wait for a change with the lock held; ``False`` = there is no time left."""
        if seconds <= 0:
            return False
        self._observers += 1
        try:
            self._change.wait(min(seconds, 60.0))
        finally:
            self._observers -= 1
        return True

    def _lost(self, member: _Member) -> None:
        self._inbox.put((member, True))

    def _finish(self) -> None:
        self.close(timeout=0)


class _Loan:
    """The block of :meth:`Pool.connection`."""

    __slots__ = ("_connection", "_pool", "_timeout")

    def __init__(self, pool: Pool, timeout: float | None) -> None:
        self._pool = pool
        self._timeout = timeout

    def __enter__(self) -> PooledConnection:
        self._connection = self._pool.acquire(self._timeout)
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        connection = self._connection
        try:
            if kind is None and connection._main is not None:
                connection.commit()
        finally:
            # Rolls back what is not committed.
            self._pool._give_back(connection)


def _open_gate(gate: threading.Lock) -> None:
    """Let the thread go on that waits at it. It may have been told before."""
    with suppress(RuntimeError):
        gate.release()


def _keep(reference: weakref.ref[Pool], inbox: SimpleQueue[_Errand | None]) -> None:
    """Look after a pool until it is closed or gone."""
    pause = 0.0
    while True:
        try:
            errand = inbox.get(timeout=pause) if pause else _LOOK
        except Empty:
            errand = _LOOK
        if errand is None:
            return
        pool = reference()
        if pool is None:
            return
        pause = pool._tend(errand)
        if pool._has_ended():
            return
        # Nothing may keep them alive meanwhile.
        del pool, errand


def _close(core: _core.Connection) -> None:
    """Disconnect. Errors are ignored: the server may already be gone."""
    with suppress(Error):
        core.close()


# As in __init__.py: what users import.
for _public in (Pool, PoolClosed, PooledConnection, PoolStats, PoolTimeout):
    _public.__module__ = "firearrow"

"""What the blocking and the asynchronous pool share beside their policy, which is in ``_pooling.py``."""

from __future__ import annotations

import atexit
import os
import threading
import warnings
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import Any, Generic, NoReturn, TypeVar

from ._base import ConnectionBase, CoreConnection, CoreTransaction, Dependent
from ._pooling import Limits, Member, PoolClosed, PoolTimeout, State, changes_session
from ._request import Request
from ._names import Strict, of_class
from .errors import InterfaceError

__all__ = ["PATIENCE", "PoolBase", "Pooled"]

C = TypeVar("C")

PATIENCE = 5.0
"""Seconds that a ping, a rollback or a reset of the pool's own may take."""


class _Released:
    """Takes the place of a connection that has gone back to its pool."""

    is_open = False
    is_alive = False

    def __getattr__(self, name: str) -> NoReturn:
        raise InterfaceError(_GONE)


_GONE = "the connection has gone back to its pool: acquire another one"
RELEASED: Any = _Released()


class Pooled(ConnectionBase[CoreConnection, CoreTransaction]):
    """A connection that is borrowed from a pool, without what waits."""

    def __init__(self, pool: Any, member: Member[CoreConnection], settings: dict[str, Any]) -> None:
        self.__dict__.update(settings)
        # Those are changed in place, and another thread must not wait for this connection.
        self._options = dict(self._options)
        self._lock = threading.RLock()
        self._core = member.connection
        self._main = None
        self._undecided = 0
        self._pool = pool
        self._member: Member[CoreConnection] | None = member
        self._dependents: list[weakref.ref[Any]] = []
        self._bound = 32
        self._has_told = False
        # Whose rows Arrow consumers read, who may have let everything else of them go.
        self._lent: list[CoreTransaction] = []
        self._has_lent = False

    def _check(self) -> None:
        if not self._core.is_open:
            raise InterfaceError(_GONE if self._member is None else "the connection is closed")

    def _changed(self) -> None:
        if self._member is not None:
            self._member.has_changed = True

    def _note_sql(self, sql: str) -> None:
        if changes_session(sql):
            self._changed()

    def _tell_options(self) -> None:
        self._has_told = True
        super()._tell_options()

    def _lend_rows(self, transaction: CoreTransaction | None) -> None:
        if transaction is None:
            # Only the server knows whether the transaction of its own still runs at the end of the loan.
            self._has_lent = True
            self._changed()
        else:
            self._lent = [lent for lent in self._lent if lent.is_open and lent is not transaction]
            self._lent.append(transaction)

    def _adopt(self, dependent: Dependent) -> Dependent:
        dependents = self._dependents
        if len(dependents) >= self._bound:
            dependents[:] = [reference for reference in dependents if reference() is not None]
            self._bound = max(32, 2 * len(dependents))
        dependents.append(weakref.ref(dependent))
        return dependent

    def _take_dependents(self) -> list[Any]:
        """What was opened on it and is still in use, which is forgotten."""
        left = [dependent for reference in self._dependents if (dependent := reference()) is not None]
        self._dependents = []
        return left

    def _has_left(self) -> bool:
        """Whether a transaction of it is open, or something that was opened on it is still in use."""
        return (
            self._has_begun()
            or self._undecided > 0
            or bool(self._lent)
            or any(reference() is not None for reference in self._dependents)
        )

    def _leave(self) -> tuple[Member[CoreConnection], CoreConnection] | None:
        """Become useless. Threads need the pool's lock for it."""
        member, self._member = self._member, None
        if member is None:
            return None
        core = self._core
        if self._has_told and core.is_open:
            usual = self._pool._settings["_options"]
            core.set_single(usual["isolation"], usual["read_only"], usual["lock_timeout"])
        self._core = RELEASED
        return member, core

    def _state(self) -> str:
        return "released" if self._core is RELEASED else super()._state()

    def __del__(self) -> None:
        member = getattr(self, "_member", None)
        if member is None:
            return
        # First: the warning may be an exception.
        self._pool._lost(member)
        self._core = RELEASED
        warnings.warn(f"{self!r} was not given back to its pool", ResourceWarning, stacklevel=2, source=self)


# What pools take beside the options of their connections.
_ARGUMENTS = (
    "min_size",
    "max_size",
    "acquire_timeout",
    "idle_timeout",
    "max_lifetime",
    "check_after",
    "reset",
    "configure",
)


class PoolBase(Strict, ABC, Generic[C]):
    """A pool, without what waits."""

    # Before there is one, for __del__.
    _state: State[C] | None = None
    _process = -1

    def __init__(
        self,
        database: str | os.PathLike[str] | None,
        configure: Callable[[Any], object] | None,
        options: dict[str, Any],
        limits: Limits,
    ) -> None:
        if configure is not None and not callable(configure):
            raise InterfaceError(f"configure is called with each new connection, and cannot be {configure!r}")
        self._request = Request(False, database, further=_ARGUMENTS, **options)
        self._configure = configure
        # What a connection has beside its core, from the first that was opened.
        self._settings: dict[str, Any] = {}
        # Whether Firebird can reset sessions; asked when it is needed.
        self._is_modern: bool | None = None
        self._start(limits)
        _pools.add(self)

    def _start(self, limits: Limits) -> None:
        """Begin with no connection."""
        self._state = State(limits)
        self._process = os.getpid()

    @property
    def _policy(self) -> State[C]:
        assert self._state is not None
        return self._state

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._policy.is_closed

    @abstractmethod
    def _lost(self, member: Member[C]) -> None:
        """Learn of a borrower that is gone without giving its connection back.

        The garbage collector may call it anywhere: no lock, no I/O.
        """

    @abstractmethod
    def _finish(self) -> None:
        """Close as far as the interpreter lets it, which is about to exit."""

    def _is_recent(self, member: Member[C]) -> bool:
        """Whether the server need not be asked before this connection is lent."""
        return monotonic() - member.idle_since < self._policy.limits.check_after

    def _is_to_reset(self, member: Member[C]) -> bool:
        reset = self._policy.limits.reset
        return reset == "always" or (member.has_changed and reset == "auto")

    def _is_to_clean(self, connection: Pooled[Any, Any], member: Member[C]) -> bool:
        """Whether a connection that is given back is not as new."""
        return connection._has_left() or self._needs_reset(connection, member)

    def _needs_reset(self, connection: Pooled[Any, Any], member: Member[C]) -> bool:
        # A reset ends every transaction, so that streams fail; a connection that cannot be reset is closed.
        return connection._has_lent or self._is_to_reset(member)

    def _is_missing(self) -> bool:
        """Whether ``min_size`` connections are not open yet."""
        state = self._policy
        return not state.is_closed and len(state.idle) + state.lent < state.limits.min_size

    def _missing(self, timeout: float) -> PoolTimeout:
        """Return the error of a wait for ``min_size`` connections that took too long."""
        state = self._policy
        number, least = len(state.idle) + state.lent, state.limits.min_size
        why = f": {state.error}" if state.error else ""
        error = PoolTimeout(f"{number} of {least} connections are open after {timeout:g} s{why}")
        error.__cause__ = state.error
        return error

    def _limit(self, min_size: int | None, max_size: int | None) -> None:
        """Change the limits."""
        limits = self._policy.limits
        high = limits.max_size if max_size is None else max_size
        low = min(limits.min_size, high) if min_size is None else min_size
        self._policy.limits = replace(limits, min_size=low, max_size=high)

    def _check_open(self) -> None:
        if self._policy.is_closed:
            raise PoolClosed("the pool is closed")

    @staticmethod
    def _strip(connection: ConnectionBase[Any, Any]) -> tuple[Any, dict[str, Any]]:
        """Take a connection apart, so that only the pool tells of what was not closed."""
        settings = dict(connection.__dict__)
        del settings["_core"], settings["_main"]
        core, connection._core = connection._core, RELEASED
        return core, settings

    def _renew(self) -> None:
        """Begin with no connection in a process that was forked."""
        limits, is_closed = self._policy.limits, self._policy.is_closed
        self._start(limits)
        self._policy.is_closed = is_closed

    def __del__(self) -> None:
        state = self._state
        if state is None or self._process != os.getpid():
            return
        if not state.is_closed and state.size:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, stacklevel=2, source=self)

    def __repr__(self) -> str:
        state = self._policy
        about = f"{state.lent} in use, {len(state.idle)} idle, at most {state.limits.max_size}"
        if state.waiters:
            about += f", {len(state.waiters)} waiting"
        return f"<{of_class(type(self))}: {'closed' if state.is_closed else about}>"


_pools: weakref.WeakSet[PoolBase[Any]] = weakref.WeakSet()


def _renew_all() -> None:
    for pool in list(_pools):
        pool._renew()


def _finish_all() -> None:
    for pool in list(_pools):
        if not pool.closed and pool._process == os.getpid():
            if pool._policy.size:
                warnings.warn(f"{pool!r} was not closed", ResourceWarning, stacklevel=1, source=pool)
            pool._finish()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
atexit.register(_finish_all)

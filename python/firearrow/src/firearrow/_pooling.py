"""What a pool decides: no threads, tasks, clocks or I/O. The blocking and the asynchronous pool share it.

The pool calls it with its lock held, and does what it is told: open so many connections, close these.

Each connection is in one place at a time, and all of them count::

    opening ─► idle ⇄ in use
       │        └──────┴──► closing ─► gone
       └─(failed)─► gone
"""

from __future__ import annotations

import random
import re
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

from ._backoff import Backoff
from .errors import Error, InterfaceError, OperationalError

__all__ = ["Limits", "Member", "PoolClosed", "PoolStats", "PoolTimeout", "State", "Waiter", "changes_session"]

C = TypeVar("C")

RESETS = ("auto", "always", "never")
# Kinds of errors that may clear up on a retry.
PASSING = frozenset(("Unreachable", "Closed", "Timeout", "Io"))
REOPENING = Backoff(base=0.1, cap=5.0)


class PoolTimeout(OperationalError):
    """No connection became free in time. ``__cause__`` is why none could be opened, if that is the reason."""


class PoolClosed(InterfaceError):
    """The pool is closed."""


@dataclass(frozen=True)
class Limits:
    """The options of a pool; see :class:`firearrow.Pool`."""

    min_size: int = 0
    max_size: int = 10
    acquire_timeout: float = 30.0
    idle_timeout: float = 600.0
    max_lifetime: float = 3600.0
    check_after: float = 30.0
    reset: str = "auto"

    def __post_init__(self) -> None:
        for name in ("min_size", "max_size"):
            if not isinstance(getattr(self, name), int) or isinstance(getattr(self, name), bool):
                raise InterfaceError(f"{name} must be a number of connections, not {getattr(self, name)!r}")
        if self.max_size < 1:
            raise InterfaceError(f"max_size must be 1 or more, not {self.max_size}")
        if not 0 <= self.min_size <= self.max_size:
            raise InterfaceError(f"min_size must be between 0 and max_size, not {self.min_size}")
        for name in ("acquire_timeout", "idle_timeout", "max_lifetime", "check_after"):
            seconds = getattr(self, name)
            # `not` catches NaN, too.
            if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not seconds >= 0:
                raise InterfaceError(f"{name} must be a number of seconds, not {seconds!r}")
        if self.reset not in RESETS:
            raise InterfaceError(f"reset must be one of {', '.join(RESETS)}, not {self.reset!r}")


@dataclass(frozen=True)
class PoolStats:
    """What a pool has done. Counters count from its beginning."""

    min_size: int
    max_size: int
    size: int
    """Connections that are open, being opened or being closed: never more than ``max_size``."""
    idle: int
    in_use: int
    """Borrowed now."""
    waiting: int
    """Callers that wait for a connection now."""
    opened: int
    closed: int
    acquired: int
    waited: int
    """Callers that had to wait."""
    wait_time: float
    """Seconds that all callers together waited."""
    timeouts: int
    """Callers that waited in vain."""
    failed_opens: int
    failed_checks: int
    """Connections that were found dead."""
    resets: int
    """Sessions that were reset, or replaced where Firebird cannot reset them."""


class Member(Generic[C]):
    """A connection of a pool."""

    __slots__ = ("__weakref__", "connection", "expires", "has_changed", "idle_since", "reference", "state")

    def __init__(self, connection: C, state: State[C], expires: float, now: float) -> None:
        self.connection = connection
        self.state = state
        self.expires = expires
        self.idle_since = now
        self.has_changed = False
        """Whether its session may differ from a new one."""
        self.reference = weakref.ref(self, state.forget)
        # From now on the reference knows it: afterwards there is nothing to compute it from.
        hash(self.reference)


class Waiter(Generic[C]):
    """Somebody who waits for a connection, and is woken when there is one, or an error."""

    __slots__ = ("error", "member", "since", "wake")

    def __init__(self, wake: Callable[[], object], since: float) -> None:
        self.wake = wake
        self.since = since
        self.member: Member[C] | None = None
        self.error: BaseException | None = None


class State(Generic[C]):
    """The connections of a pool, and who waits for one.

    A signal handler can raise between any two steps of a borrower in the main thread. So what borrowers do
    loses nothing wherever it ends: a connection in use exists as long as its borrower has it.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.is_closed = False
        # The one that was used last comes first; the others grow old and are closed.
        self.idle: deque[Member[C]] = deque()
        # First come, first served.
        self.waiters: deque[Waiter[C]] = deque()
        self._lent: set[weakref.ref[Member[C]]] = set()
        self.forget = self._lent.discard
        # Those among them that :meth:`keep` has refused.
        self._refused: set[weakref.ref[Member[C]]] = set()
        self.opening = 0
        self.closing = 0
        self.error: BaseException | None = None
        """Why the last connection could not be opened."""
        self._failures = 0
        self._not_before = 0.0
        self.opened = self.acquired = self.waited = self.timeouts = 0
        self.failed_opens = self.failed_checks = self.resets = 0
        self.wait_time = 0.0

    @property
    def size(self) -> int:
        """Connections that exist in any state."""
        return len(self.idle) + len(self._lent) + self.opening + self.closing

    @property
    def lent(self) -> int:
        """How many are in use, without those that have come back to be closed."""
        return len(self._lent) - len(self._refused & self._lent)

    @property
    def in_use(self) -> list[Member[C]]:
        """Those that are borrowed."""
        return [
            member for reference in tuple(self._lent - self._refused) if (member := reference()) is not None
        ]

    @property
    def closed(self) -> int:
        """How many have been closed, or were lost, and closed themselves."""
        return self.opened - len(self.idle) - len(self._lent) - self.closing

    @property
    def may_open(self) -> bool:
        """Whether somebody waits for whom one more could be opened."""
        return bool(self.waiters) and not self.is_closed and self.size < self.limits.max_size

    def stats(self) -> PoolStats:
        """Return the counters."""
        return PoolStats(
            min_size=self.limits.min_size,
            max_size=self.limits.max_size,
            size=self.size,
            idle=len(self.idle),
            in_use=self.lent,
            waiting=len(self.waiters),
            opened=self.opened,
            closed=self.closed,
            acquired=self.acquired,
            waited=self.waited,
            wait_time=self.wait_time,
            timeouts=self.timeouts,
            failed_opens=self.failed_opens,
            failed_checks=self.failed_checks,
            resets=self.resets,
        )

    # Borrowing.

    def take(self) -> Member[C] | None:
        """Lend an idle connection, if there is one and nobody else waits."""
        if self.is_closed:
            raise PoolClosed("the pool is closed")
        if self.waiters or not self.idle:
            return None
        member = self.idle.pop()
        self._lend(member)
        return member

    def _lend(self, member: Member[C]) -> None:
        self._lent.add(member.reference)
        self.acquired += 1

    def wait(self, waiter: Waiter[C], *, is_first: bool = False) -> None:
        """Let somebody wait; the first one again if the connection that it got turned out to be dead."""
        if is_first:
            self.waiters.appendleft(waiter)
        else:
            self.waiters.append(waiter)
            self.waited += 1

    def leave(self, waiter: Waiter[C], now: float) -> None:
        """Let a waiter go that waits no longer."""
        if waiter in self.waiters:
            self.waiters.remove(waiter)
        # It may leave twice, if it was interrupted the first time.
        self.wait_time += now - waiter.since
        waiter.since = now

    def timed_out(self, seconds: float) -> PoolTimeout:
        """Return the error of a waiter whose time is up."""
        self.timeouts += 1
        limits = self.limits
        if self._failures and self.error is not None:
            error = PoolTimeout(f"no connection could be opened within {seconds:g} s: {self.error}")
            error.__cause__ = self.error
            return error
        return PoolTimeout(
            f"no connection became free within {seconds:g} s: {self.lent} of {limits.max_size} are in "
            "use; release them sooner, or raise max_size or acquire_timeout"
        )

    def note_dead(self) -> None:
        """Note that a connection that was lent does not work; it comes back at once."""
        self.failed_checks += 1
        self.acquired -= 1

    def give_back(self, member: Member[C], is_usable: bool, now: float) -> bool:
        """Take a connection back; ``False`` = the caller has to close it, and to say so with :meth:`gone`."""
        if is_usable and self.keep(member, now):
            return True
        if member.reference not in self._lent:
            return True
        self._lent.remove(member.reference)
        self._refused.discard(member.reference)
        self.closing += 1
        return False

    def keep(self, member: Member[C], now: float) -> bool:
        """Take a connection back that is as new; ``False`` = it remains in use, and has to be closed."""
        if member.reference not in self._lent:
            # The pool was closed meanwhile, and did not wait for it.
            return True
        if self._refused:
            self._refused &= self._lent
        surplus = self.size - self.closing - len(self._refused) - self.limits.max_size
        if self.is_closed or surplus > 0 or member.expires <= now:
            self.refuse(member)
            return False
        self._lent.remove(member.reference)
        self._offer(member, now)
        return True

    def refuse(self, member: Member[C]) -> None:
        """Note that a connection is not borrowed any longer, but waits to be closed."""
        self._refused.add(member.reference)

    def _offer(self, member: Member[C], now: float) -> None:
        member.idle_since = now
        while self.waiters:
            waiter = self.waiters[0]
            # Otherwise, who gave it one was interrupted before this.
            is_waiting = waiter.member is None
            if is_waiting:
                waiter.member = member
                self._lend(member)
            waiter.wake()
            self.waiters.popleft()
            if is_waiting:
                return
        self.idle.append(member)

    # Opening and closing.

    def reserve(self, now: float) -> int:
        """Return how many connections to open now; each ends with :meth:`is_open` or :meth:`is_not_open`."""
        if self.is_closed or now < self._not_before:
            return 0
        limits = self.limits
        size = self.size
        for_waiters = len(self.waiters) - self.opening
        for_minimum = limits.min_size - (size - self.closing)
        number = max(0, min(max(for_waiters, for_minimum), limits.max_size - size))
        if not self.opened:
            # The first one alone: it may create the database, or find out that the password is wrong.
            number = min(number, 1 - self.opening)
        self.opening += number
        return number

    def note_opened(self, connection: C, now: float) -> Member[C] | None:
        """Take a new connection; ``None`` = it is not wanted any longer: close it, and call :meth:`gone`."""
        self.opening -= 1
        self.opened += 1
        self._failures = 0
        self.error = None
        # Some leave earlier, so that those that came together do not go together.
        lifetime = self.limits.max_lifetime * random.uniform(0.9, 1.0)
        member = Member(connection, self, now + lifetime, now)
        if self.is_closed or self.size - self.closing >= self.limits.max_size:
            # Those that are being closed cannot be lent.
            self.closing += 1
            return None
        self._offer(member, now)
        return member

    def note_open_failed(self, error: BaseException, now: float) -> None:
        """Note why none could be opened. What may pass is tried again; other errors go to a waiter."""
        self.opening -= 1
        self.failed_opens += 1
        self.error = error
        self._failures += 1
        is_passing = isinstance(error, Error) and error.kind in PASSING
        if is_passing or not self.waiters:
            # At least a part of it: otherwise many pools would reconnect at the same moment.
            self._not_before = now + max(0.02, REOPENING.pause(self._failures))
            return
        waiter = self.waiters.popleft()
        waiter.error = error
        waiter.wake()

    def note_open_abandoned(self) -> None:
        """Note that a connection is not opened after all, for no reason of its own."""
        self.opening -= 1

    def abandon(self) -> None:
        """Forget everybody who waits, opens or closes: their event loop has gone."""
        self.waiters.clear()
        self.opening = self.closing = 0

    def gone(self) -> None:
        """Note that a connection has been closed."""
        self.closing -= 1

    # In the background.

    def expired(self, now: float) -> list[Member[C]]:
        """Return idle connections that the caller has to close, because of their age or the pool's size."""
        limits = self.limits
        old = [member for member in self.idle if member.expires <= now]
        for member in old:
            self.idle.remove(member)
        surplus = len(self.idle) + self.lent + self.opening
        while self.idle and (
            self.is_closed
            or surplus > limits.max_size
            or (surplus > limits.min_size and self.idle[0].idle_since + limits.idle_timeout <= now)
        ):
            old.append(self.idle.popleft())
            surplus -= 1
        self.closing += len(old)
        return old

    def next_event(self, now: float) -> float:
        """Return the seconds until something is to be done in the background."""
        times = [member.expires for member in self.idle]
        if self.idle and len(self.idle) + self.lent > self.limits.min_size:
            times.append(self.idle[0].idle_since + self.limits.idle_timeout)
        if self._not_before > now:
            times.append(self._not_before)
        return max(0.0, min(times, default=float("inf")) - now)

    def close(self) -> None:
        """Stop lending, and wake those who wait."""
        self.is_closed = True
        waiters, self.waiters = self.waiters, deque()
        for waiter in waiters:
            waiter.error = PoolClosed("the pool was closed")
            waiter.wake()


_BLANK = r"(?:\s|/\*.*?\*/|--[^\n]*\n)+"
_CHANGES = re.compile(
    rf"\bSET{_BLANK}(?:ROLE|TRUSTED|TIME|BIND|DECFLOAT|OPTIMIZE|STATEMENT|SESSION|DEBUG)\b"
    rf"|\bALTER{_BLANK}SESSION\b|RDB\$SET_CONTEXT",
    re.IGNORECASE | re.DOTALL,
)


@lru_cache(maxsize=1024)
def changes_session(sql: str) -> bool:
    """Whether a statement may change the session. A false positive only costs time."""
    return _CHANGES.search(sql) is not None

"""Which failures a transaction is run again for, and how ``retry`` is called.

Blocking and asynchronous functions share it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from time import monotonic
from typing import Any, Literal

from ._backoff import Backoff
from ._names import of_class
from .errors import Error, InterfaceError, ProgrammingError

__all__ = ["Attempts", "arrange", "check_options", "decide", "in_progress"]

Decision = Literal["again", "done", "raise"]

# isc_deadlock, isc_update_conflict, isc_lock_conflict, isc_lock_timeout.
_CONFLICTS = frozenset((335544336, 335544451, 335544345, 335544510))
# The connection did not come about, or was lost.
_LOST = frozenset(("Unreachable", "Closed"))


def decide(error: Error, *, is_replaceable: bool) -> Decision:
    """Say what follows an error of a transaction.

    Parameters
    ----------
    error
        What the work or its commit raised.
    is_replaceable
        Whether the next attempt can have another connection.

    Returns
    -------
    str
        ``"again"``, ``"raise"``, or ``"done"``: the connection was lost, but the commit has succeeded.
    """
    if error.commit == "committed":
        return "done"
    if error.commit == "unknown" or (error.kind == "CommitUnknown" and error.commit is None):
        return "raise"
    if error.retryable or error.kind == "Conflict" or not _CONFLICTS.isdisjoint(error.gds_codes):
        return "again"
    if is_replaceable and (error.commit == "rolled_back" or error.kind in _LOST):
        return "again"
    return "raise"


class Attempts:
    """The attempts of one call of ``retry``."""

    def __init__(self, backoff: Backoff, *, is_replaceable: bool) -> None:
        self._delays = backoff.delays(monotonic)
        self._is_replaceable = is_replaceable
        self._number = 0

    def pause(self, error: Error, *, has_outcome: bool) -> float | None:
        """Return the seconds before the next attempt, or raise the error again.

        Parameters
        ----------
        error
            What the attempt raised.
        has_outcome
            Whether the work was done before that.

        Returns
        -------
        float or None
            ``None``: it has succeeded all the same.
        """
        self._number += 1
        decision = decide(error, is_replaceable=self._is_replaceable)
        if decision == "done" and has_outcome:
            return None
        error.details["attempts"] = str(self._number)
        pause = next(self._delays, None) if decision == "again" else None
        if pause is None:
            raise error
        return pause


def check_options(transaction: dict[str, Any]) -> None:
    """Raise TypeError if transactions have no such option."""
    unknown = transaction.keys() - {"isolation", "read_only", "lock_timeout"}
    if unknown:
        raise TypeError(f"retry has no option {min(unknown)!r}")


def in_progress() -> ProgrammingError:
    """Return the error for a connection that is in the middle of something."""
    return ProgrammingError(
        "the connection has a transaction in progress, which retry would have to undo: commit it or "
        "roll it back first"
    )


def arrange(
    source: Any,
    work: Callable[..., Any] | None,
    kinds: tuple[type, ...],
    run: Callable[[Any, Callable[[Any], Any]], Any],
    function_of: Callable[[Callable[..., Any]], Callable[..., Any]],
) -> Any:
    """Do what a call of ``retry`` asks for: run some work, or decorate it.

    Parameters
    ----------
    source, work
        Arguments of ``retry``.
    kinds
        The classes of connections and pools.
    run
        Runs a function with a connection of a source.
    function_of
        Makes the decorated function from what calls it.
    """

    def bound(function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function that is called without a connection."""

        def call(*arguments: Any, **keywords: Any) -> Any:
            return run(source, lambda connection: function(connection, *arguments, **keywords))

        return functools.wraps(function)(function_of(call))

    def free(function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorate a function whose first argument is a connection or pool."""

        def call(target: Any, /, *arguments: Any, **keywords: Any) -> Any:
            if not isinstance(target, kinds):
                raise InterfaceError(
                    f"the first argument must be a connection or a pool, not {_name(target)}"
                )
            return run(target, lambda connection: function(connection, *arguments, **keywords))

        return functools.wraps(function)(function_of(call))

    if isinstance(source, kinds):
        return bound if work is None else run(source, work)
    if source is None and work is None:
        return free
    if callable(source) and work is None:
        return free(source)
    raise InterfaceError(f"retry takes a connection or a pool, not {_name(source)}")


def _name(of: object) -> str:
    """A class's name, with its package if firearrow has another one of that name."""
    name = of_class(type(of))
    return name if name.startswith("firearrow.") else type(of).__name__

"""Which failures a transaction is run again for; blocking and asynchronous functions share it."""

from __future__ import annotations

from typing import Literal

from .errors import Error

__all__ = ["decide"]

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

"""How a job's processes read its outcome from the database.

The coordinator's transaction is the decision. While it is active, nothing is decided. Prepared, it says which
attempts are committed: the engine shows the descriptions of prepared transactions to everybody, in
RDB$TRANSACTIONS, and deletes them when they are committed. It is committed itself once all of those have
been. If it has ended in any other way, there is nothing to commit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .. import errors
from ..connection import Connection
from ..transaction import Transaction
from .place import looking
from .writing import Job

__all__ = ["Decision", "decision", "decision_text", "is_active", "prepared", "rolled_back"]

# What the decision's description says after the job's name.
_COMMIT = " commit"

_LIMBO = 1  # RDB$TRANSACTION_STATE

# Retries when a description disappears while it is read.
_TRIES = 100

# An engine's message is at most this long, in bytes.
_LONGEST = 65_535

_ALL = f"SELECT RDB$TRANSACTION_ID, RDB$TRANSACTION_DESCRIPTION FROM RDB$TRANSACTIONS \
WHERE RDB$TRANSACTION_STATE = {_LIMBO}"
_ONE = f"{_ALL} AND RDB$TRANSACTION_ID = ?"
# Its commit number: 0 = active, or prepared and held by its connection; -1 = in limbo, -2 = rolled back.
_NUMBER = """SELECT RDB$GET_TRANSACTION_CN(CAST(? AS TYPE OF COLUMN MON$TRANSACTIONS.MON$TRANSACTION_ID))
FROM RDB$DATABASE"""
_ACTIVE3 = "SELECT COUNT(*) FROM MON$TRANSACTIONS WHERE MON$TRANSACTION_ID = ?"


@dataclass(frozen=True)
class Decision:
    """The outcome of a job."""

    numbers: frozenset[int]
    """The transactions that are committed; all others are rolled back."""
    is_commit: bool = True
    """Whether the job is committed, if only without rows."""


def decision_text(job: Job, numbers: tuple[int, ...]) -> str:
    """The description that decides for these transactions.

    Raises
    ------
    OperationalError
        There are too many.
    """
    # Numbers as people read them, since an administrator may have to.
    text = f"{job.message}{_COMMIT} {' '.join(map(str, sorted(numbers)))}"
    if len(text) > _LONGEST:
        raise errors.OperationalError(
            f"{len(numbers)} tasks do not fit into one commit: write with fewer partitions (coalesce)"
        )
    return text


def decision(connection: Connection, job: Job) -> Decision | None:
    """What is decided about a job; ``None`` while nothing is."""
    with looking(connection) as transaction:
        if (found := _decided(transaction, job)) is not None:
            return found
        if _is_active(transaction, job.leader, job.release):
            return None
        # It may have decided between the two queries.
        return _decided(transaction, job) or Decision(frozenset(), is_commit=False)


def prepared(connection: Connection, job: Job) -> dict[int, str]:
    """The prepared transactions of a job with their descriptions, including the decision's."""
    with looking(connection) as transaction:
        texts = _described(transaction, _ALL)
    # Identifiers have equal length, so none is a prefix of another.
    return {number: text for number, text in texts.items() if text.startswith(job.message)}


def _decided(transaction: Transaction, job: Job) -> Decision | None:
    beginning = f"{job.message}{_COMMIT}"
    text = _described(transaction, _ONE, job.leader).get(job.leader, "")
    if not text.startswith(beginning):
        return None
    return Decision(frozenset(map(int, text.removeprefix(beginning).split())))


def _described(transaction: Transaction, sql: str, *parameters: int) -> dict[int, str]:
    """Transactions with their descriptions."""
    for left in reversed(range(_TRIES)):
        try:
            rows = transaction.execute(sql, parameters or None).fetchall()
            return {number: bytes(text or b"").decode(errors="replace") for number, text in rows}
        except errors.DatabaseError as error:
            # It was committed, and its description deleted, after its row was read.
            if left == 0 or "bad_segstr_id" not in error.gds_names:
                raise
    raise AssertionError


def rolled_back(connection: Connection, numbers: Iterable[int], release: int) -> set[int]:
    """Those of these transactions that were rolled back. Firebird 3 does not tell."""
    if release < 4:
        return set()
    with looking(connection) as transaction:
        return {number for number in numbers if transaction.execute(_NUMBER, (number,)).fetchone()[0] == -2}


def is_active(connection: Connection, number: int, release: int) -> bool:
    """Whether a transaction is active, or prepared and held by its connection."""
    with looking(connection) as transaction:
        return _is_active(transaction, number, release)


def _is_active(transaction: Transaction, number: int, release: int) -> bool:
    is_modern = release >= 4
    found = transaction.execute(_NUMBER if is_modern else _ACTIVE3, (number,)).fetchone()[0]
    return bool(found == 0 if is_modern else found)

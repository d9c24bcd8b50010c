"""A job that writes a table from many processes, all or nothing.

>>> job = begin(Target(place, "SALES"), schema, driver())
>>> number = write(job, part, attempt, batches)  # in each process, and each of its attempts
>>> commit(job, numbers)                         # of those attempts that count

Each attempt ends with the first phase of a two-phase commit. The coordinator decides about all of them at once, by
preparing its own transaction.
"""

from __future__ import annotations

import atexit
import secrets
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Client
from typing import Any

from .._base import library
from ..errors import OperationalError, ProgrammingError
from .anchor import Anchor
from .place import Place
from .process import Child

__all__ = ["MODES", "Job", "Target", "abort", "begin", "commit", "write"]

MODES = ("append", "overwrite", "upsert")

# Making a table waits for its users, and connecting has its own limit.
_BEGINNING = 120.0
# The coordinator gives signs of life more often.
_SILENCE = 60.0


@dataclass(frozen=True)
class Target:
    """What a job writes."""

    place: Place
    table: str
    mode: str = "append"
    key: tuple[str, ...] = ()
    """Columns by which ``upsert`` finds rows; by default the primary key."""
    text: int | None = None
    """Length of VARCHAR columns in a new table; BLOBs if None."""
    lock_timeout: float = 300.0
    """Seconds that an attempt waits for other transactions."""


@dataclass(frozen=True)
class Beginning:
    """The request to the coordinator."""

    target: Target
    identifier: str
    schema: bytes
    """The columns, as an Arrow IPC message."""
    anchor: Anchor


@dataclass(frozen=True)
class Job:
    """A running job, pickled to every process that writes, password included."""

    place: Place
    identifier: str
    leader: int
    """The number of the coordinator's transaction. The job lives as long as it is active."""
    table: str
    """Where attempts write, as its name is stored: the table itself, or one beside it until all rows are there."""
    lock_timeout: float
    release: int
    """The engine's major release."""
    address: str
    """Where the coordinator listens, on the machine where the job has begun."""
    secret: bytes = field(repr=False)

    @property
    def message(self) -> str:
        """The beginning of its transactions' descriptions."""
        return message(self.identifier)


def message(identifier: str) -> str:
    """The beginning of the descriptions of a job's transactions."""
    return f"firearrow job {identifier}"


@dataclass(frozen=True)
class Attempt:
    """The request to a keeper; the rows follow as an Arrow IPC stream, and then their number."""

    part: int
    attempt: int


# This process's keeper, by job.
_keepers: dict[str, Child] = {}


def begin(target: Target, schema: Any, anchor: Anchor) -> Job:
    """Begin a job: look at the table, make it if there is none, and start the coordinator.

    Parameters
    ----------
    schema
        The ``pyarrow.Schema`` of the rows.
    anchor
        The program whose end is the end of the job.
    """
    if target.mode not in MODES:
        raise ProgrammingError(f"the mode must be one of {', '.join(MODES)}, not {target.mode!r}")
    child = Child("coordinator")
    identifier = secrets.token_hex(8)
    child.send(Beginning(target, identifier, schema.serialize().to_pybytes(), anchor))
    try:
        job: Job = child.answer(_BEGINNING)
    finally:
        child.leave()
    return job


def commit(job: Job, numbers: Sequence[int]) -> None:
    """Make the rows of these attempts permanent and visible, and undo all others."""
    _ask(job, ("commit", tuple(numbers)))


def abort(job: Job) -> None:
    """Undo everything. A job whose coordinator has ended is undone already."""
    try:
        _ask(job, ("abort",))
    except OperationalError as error:
        if not isinstance(error.__cause__, OSError | EOFError):
            raise


def _ask(job: Job, request: tuple[Any, ...]) -> None:
    leave(job)
    gone = (
        f"if `firearrow limbo list` shows a transaction of {job.message!r} that says 'commit', commit those that it lists, "
        "then itself; roll the others back"
    )
    try:
        with closing(Client(job.address, authkey=job.secret)) as client:
            client.send(request)
            has_ended, error = False, None
            while not has_ended:
                if not client.poll(_SILENCE):
                    raise OperationalError(f"job {job.identifier}: its coordinator does not answer; {gone}")
                has_ended, error = client.recv()
    except (OSError, EOFError) as failed:
        raise OperationalError(f"job {job.identifier}: its coordinator has ended; {gone}") from failed
    if error is not None:
        raise error


def write(job: Job, part: int, attempt: int, batches: Iterable[Any]) -> int | None:
    """Write rows, and prepare their commit.

    Parameters
    ----------
    batches
        Of pyarrow, all with the same columns.

    Returns
    -------
    int or None
        The number of the transaction, for :func:`commit`; ``None`` if there were no rows.
    """
    pyarrow = library("pyarrow")

    batches = iter(batches)
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return None
    child = _keepers.get(job.identifier)
    if child is not None and not child.is_alive:
        leave(job)
        child = None
    if child is None:
        child = _keepers[job.identifier] = Child("keeper")
        child.send(job)
        try:
            child.answer(_BEGINNING)
        except BaseException:
            leave(job)
            raise
    child.send(Attempt(part, attempt))
    count = first.num_rows
    is_whole = False
    try:
        with pyarrow.ipc.new_stream(child.input, first.schema) as stream:
            stream.write_batch(first)
            for batch in batches:
                count += batch.num_rows
                stream.write_batch(batch)
        is_whole = True
    except BrokenPipeError:
        # It has ended; `answer` below raises its error.
        is_whole = True
    finally:
        if not is_whole:
            # The rows are incomplete: the end of its input tells it so.
            leave(job)
    child.send(count)
    number: int = child.answer()
    return number


def leave(job: Job) -> None:
    """Stop writing from this process. Its keeper holds what is prepared until the job has decided."""
    if (child := _keepers.pop(job.identifier, None)) is not None:
        child.leave()


@atexit.register
def _leave_all() -> None:
    while _keepers:
        _keepers.popitem()[1].leave()

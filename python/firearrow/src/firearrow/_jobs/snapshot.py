"""The process that holds a snapshot after the planner has ended, until it is no longer read.

Spark plans in a process that ends at once, and its tasks begin whenever there is room for them. This process
divides the query, answers with the parts, and keeps the transaction that they depend on. It looks for readers
in the monitoring tables, where every user sees at least their own connections: so tasks need no port to
reach it.
"""

from __future__ import annotations

import time
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import errors
from .anchor import Anchor
from .place import Place, looking
from .process import Child, answer, detach_output, fail, requests
from .reading import Division, Query, divide

if TYPE_CHECKING:
    from ..connection import Connection

__all__ = ["Holding", "hold", "lingering"]

# Dividing takes a few round trips, and connecting has its own limit.
_PLANNING = 120.0
# Seconds between two looks: at the driver, and at the server.
_SHORTEST, _LONGEST = 1.0, 20.0

_READERS = "SELECT COUNT(*) FROM MON$ATTACHMENTS WHERE MON$REMOTE_PROCESS = ?"


@dataclass(frozen=True)
class Holding:
    """The request."""

    place: Place
    query: Query
    parts: int
    without_snapshot: bool
    name: str
    """The process name of its connection."""
    readers: str
    """The process name of the readers' connections."""
    idle: float
    """Seconds without any reader after which it ends."""
    anchor: Anchor


def hold(holding: Holding) -> Division:
    """Divide a query, and have the snapshot held by a process if the parts need one."""
    child = Child("snapshot")
    child.send(holding)
    try:
        division: Division = child.answer(_PLANNING)
    finally:
        child.leave()
    return division


def lingering(idle: float) -> float:
    """Seconds that readers have to stay connected, so that they are seen."""
    return 1.5 * _pause(idle)


def _pause(idle: float) -> float:
    return min(idle / 10, _LONGEST)


def main() -> None:
    """Run the process."""
    holding: Holding = requests()
    try:
        division, held = divide(
            holding.place,
            holding.query,
            holding.parts,
            holding.name,
            without_snapshot=holding.without_snapshot,
        )
    except BaseException as error:
        fail(error)
        return
    answer(division)
    detach_output()
    if held is not None:
        with closing(held), suppress(errors.Error):
            # An error means that the connection is lost, and the snapshot with it. Readers find out.
            _wait(held.connection, holding)


def _wait(connection: Connection, holding: Holding) -> None:
    """Return when nobody has read for a while."""
    pause = _pause(holding.idle)
    seen = looked = time.monotonic()
    while holding.anchor.is_alive and time.monotonic() - seen < holding.idle:
        time.sleep(min(pause, _SHORTEST))
        if time.monotonic() - looked < pause:
            continue
        looked = time.monotonic()
        with looking(connection) as transaction:
            if transaction.execute(_READERS, (holding.readers,)).fetchone()[0]:
                seen = looked


if __name__ == "__main__":
    main()

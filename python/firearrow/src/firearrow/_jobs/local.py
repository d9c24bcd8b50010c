"""A divided query whose snapshot this process holds, for programs that plan in their own process."""

from __future__ import annotations

import weakref
from contextlib import suppress

from ..errors import Error
from .place import Place
from .reading import Held, Query, divide

__all__ = ["Plan"]


class Plan:
    """The parts of a query. They can be read as long as this object lives; never pickle it."""

    def __init__(self, place: Place, query: Query, n: int, name: str, without_snapshot: bool = False) -> None:
        division, held = divide(place, query, n, name, without_snapshot=without_snapshot)
        self.parts = division.parts
        if held is not None:
            weakref.finalize(self, _close, held)


def _close(held: Held) -> None:
    # The server may have ended it.
    with suppress(Error):
        held.close()

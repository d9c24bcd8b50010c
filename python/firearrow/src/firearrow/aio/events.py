"""Events that triggers and procedures post with POST_EVENT.

>>> async for counts in connection.events("new_order", "cancelled"):
...     print(counts)  # {'new_order': 2}
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

from .. import _core
from ..errors import InterfaceError
from ._opening import Opening

if TYPE_CHECKING:
    from .connection import Connection

__all__ = ["Events", "Listening"]


class Events:
    """Listens for named events, from its creation on.

    Attributes
    ----------
    closed : bool
        Whether it was closed.
    """

    def __init__(self, core: _core.AioEvents) -> None:
        self._core = core
        self.closed = False

    async def wait(self, timeout: float | None = None) -> dict[str, int] | None:
        """Wait until something is posted. A task that is cancelled loses nothing that was posted.

        Parameters
        ----------
        timeout
            Seconds; ``None`` = as long as it takes.

        Returns
        -------
        dict or None
            How often each event was posted since the last time; ``None`` if none was in time.
        """
        deadline = None if timeout is None else monotonic() + timeout
        while (counts := self._core.take()) is None:
            if not await self._core.wait(timeout):
                return None
            # Another task may have taken them.
            timeout = None if deadline is None else max(deadline - monotonic(), 0.0)
        return counts

    def __aiter__(self) -> Events:
        return self

    async def __anext__(self) -> dict[str, int]:
        while True:
            counts = await self.wait()
            if counts is not None:
                return counts

    async def close(self) -> None:
        """Stop listening. Tasks that wait get an OperationalError."""
        self.closed = True
        await self._core.close()

    async def __aenter__(self) -> Events:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Listening(Opening[Events]):
    """Events that one is about to listen for: to be awaited, entered with ``async with``, or iterated."""

    def __init__(self, connection: Connection, names: list[str]) -> None:
        super().__init__(self._open)
        self._connection, self._names = connection, names

    async def _open(self) -> Events:
        self._connection._check()
        events = Events(await _core.AioEvents.open(self._connection._core, self._names))
        try:
            # Another task may have closed it, or given it back to its pool.
            self._connection._check()
        except InterfaceError:
            await events.close()
            raise
        return self._connection._adopt(events)

    async def __aiter__(self) -> AsyncGenerator[dict[str, int]]:
        async with self as events:
            async for counts in events:
                yield counts

"""Events that triggers and procedures post with POST_EVENT.

>>> with connection.events("new_order", "cancelled") as events:
...     for counts in events:
...         print(counts)  # {'new_order': 2}
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType

from . import _core

__all__ = ["Events"]

# Seconds between looks at whether the program wants something else.
_STEP = 3600.0


class Events:
    """Listens for named events from its creation on."""

    def __init__(self, core: _core.Events) -> None:
        self._core = core

    def wait(self, timeout: float | None = None) -> dict[str, int] | None:
        """Wait until something is posted.

        Parameters
        ----------
        timeout
            Seconds; ``None`` = as long as it takes.

        Returns
        -------
        dict or None
            How often each event was posted since the last time; ``None`` if none was in time.
        """
        if timeout is not None:
            return self._core.wait(timeout)
        while True:
            counts = self._core.wait(_STEP)
            if counts is not None:
                return counts

    def __iter__(self) -> Iterator[dict[str, int]]:
        while True:
            counts = self.wait()
            if counts is not None:
                yield counts

    def close(self) -> None:
        """Stop listening. Threads that wait get an OperationalError."""
        self._core.close()

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

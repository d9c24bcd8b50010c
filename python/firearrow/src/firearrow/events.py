"""Events that triggers and procedures post with POST_EVENT.

>>> with connection.events("new_order", "cancelled") as events:
...     for counts in events:
...         print(counts)  # {'new_order': 2}
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import TracebackType

from . import _core

__all__ = ["Events"]

# Seconds between looks at whether the program wants something else.
_STEP = 0.5


class Events:
    """Listens for named events from its creation on.

    Attributes
    ----------
    closed : bool
        Whether it was closed.
    """

    def __init__(self, core: _core.Events) -> None:
        self._core = core
        self.closed = False

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
        if timeout is not None and not _STEP < timeout <= threading.TIMEOUT_MAX:
            # Short ones, and what is no time.
            return self._core.wait(timeout)
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _STEP if end is None else min(end - time.monotonic(), _STEP)
            counts = self._core.wait(max(left, 0.0))
            if counts is not None or left < _STEP:
                return counts

    def __iter__(self) -> Iterator[dict[str, int]]:
        while True:
            counts = self.wait()
            if counts is not None:
                yield counts

    def close(self) -> None:
        """Stop listening. Threads that wait get an OperationalError."""
        self.closed = True
        self._core.close()

    def __enter__(self) -> Events:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

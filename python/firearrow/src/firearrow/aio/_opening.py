"""What is being opened: to be awaited, or entered with ``async with``."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, TypeVar

__all__ = ["Opening"]

T = TypeVar("T", bound="AbstractAsyncContextManager[Any, bool | None]")


class Opening(Coroutine[Any, Any, T]):
    """``opened = await …``, or ``async with … as opened``."""

    def __init__(self, begin: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._begin = begin
        self._opening: Coroutine[Any, Any, T] | None = None
        self._opened: T | None = None

    # A coroutine, so that it can be the work of a task.
    def send(self, value: Any, /) -> Any:
        """Go on; called by tasks."""
        self._opening = self._opening or self._begin()
        return self._opening.send(value)

    def throw(self, *error: Any) -> Any:
        """End with an exception; called by tasks."""
        self._opening = self._opening or self._begin()
        return self._opening.throw(*error)

    def close(self) -> None:
        """Give up."""
        if self._opening is not None:
            self._opening.close()

    def __await__(self) -> Generator[Any, Any, T]:
        return self._begin().__await__()

    async def __aenter__(self) -> T:
        self._opened = await self._begin()
        return self._opened

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)

"""The event loop."""

from __future__ import annotations

import asyncio

from ..errors import InterfaceError

__all__ = ["running_loop"]


def running_loop() -> asyncio.AbstractEventLoop:
    """Return asyncio's running loop.

    Raises
    ------
    InterfaceError
        There is none, such as in a program that Trio runs.
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise InterfaceError(
            "firearrow.aio needs a running event loop of asyncio (uvloop is one): use asyncio.run, or "
            "anyio's backend 'asyncio'; in Trio, use it inside trio_asyncio.open_loop() through "
            "trio_asyncio.aio_as_trio, or the blocking firearrow in trio.to_thread.run_sync"
        ) from None

"""Results on their way to event loops: loops that are unlike asyncio's, and futures that go wrong."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import firearrow
import firearrow.aio


class Stubborn(asyncio.Future):  # type: ignore[type-arg]
    """Takes no result."""

    def set_result(self, result: object) -> None:
        raise ValueError("not this one")


class Loop(asyncio.SelectorEventLoop):
    """Gives out a stubborn future when it is told to."""

    is_stubborn = False
    has_made_one = False

    def create_future(self) -> Any:
        if not self.is_stubborn:
            return super().create_future()
        self.has_made_one = True
        return Stubborn(loop=self)


def test_a_bad_future_leaves_the_others(database: str) -> None:
    """It gets the error itself, and the results that came with its own reach their futures."""
    loop = Loop()
    complaints: list[Any] = []
    loop.set_exception_handler(lambda _, context: complaints.append(context["exception"]))

    async def all_of_them() -> list[Any]:
        async with (
            await firearrow.aio.connect(database) as first,
            await firearrow.aio.connect(database) as second,
            await firearrow.aio.connect(database) as third,
        ):
            cores = [one._core for one in (first, second, third)]
            begun: list[Any] = []
            while not loop.has_made_one:
                # What has come already needs no future.
                for operation in begun:
                    await operation
                loop.is_stubborn = True
                begun = [cores[0].ping()]
                loop.is_stubborn = False
            begun += [core.ping() for core in cores[1:]]
            # All have come when the loop looks.
            time.sleep(0.5)

            async def wait(operation: Any) -> Any:
                return await operation

            waiting = [asyncio.wait_for(wait(operation), 5) for operation in begun]
            return await asyncio.gather(*waiting, return_exceptions=True)

    try:
        bad, *good = loop.run_until_complete(all_of_them())
    finally:
        loop.close()
    assert good == [None, None]
    assert isinstance(bad, ValueError)
    assert [type(complaint) for complaint in complaints] == [ValueError]


class Blind(asyncio.SelectorEventLoop):
    """As the loop of Windows that cannot watch sockets."""

    def add_reader(self, *_: Any) -> Any:
        if getattr(self, "is_ready", False):
            raise NotImplementedError
        return super().add_reader(*_)  # type: ignore[call-overload]


def test_a_loop_that_cannot_watch_sockets(database: str) -> None:
    loop = Blind()
    loop.is_ready = True  # type: ignore[attr-defined]

    async def connect() -> None:
        await firearrow.aio.connect(database)

    try:
        with pytest.raises(firearrow.NotSupportedError, match="SelectorEventLoop, or uvloop"):
            loop.run_until_complete(connect())
    finally:
        loop.is_ready = False  # type: ignore[attr-defined]
        loop.close()


def test_outside_asyncio(database: str) -> None:
    """The extension module says it as the package does."""
    with pytest.raises(firearrow.InterfaceError, match="needs a running event loop of asyncio"):
        firearrow._core.AioConnection.open(database, {})

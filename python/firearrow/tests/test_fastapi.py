"""``firearrow.aio`` in FastAPI: the program of docs/python-asyncio.md, and many requests at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from documents import BLOCK, ROOT, TOLD, check, prepared
from fastapi import FastAPI
from loops import run

import firearrow
from firearrow import aio

PAGE = (ROOT / "docs/python-asyncio.md").read_text("utf-8")


def play(database: str, *, most: int | None = None) -> dict[str, Any]:
    """Run the page's examples, or the first ones, and return their names."""
    blocks = [match[1] for match in BLOCK.finditer(PAGE)]
    assert PAGE.count("```python") == len(blocks) == 5
    names: dict[str, Any] = {"check": check, "__name__": "__main__"}
    for block in blocks[:most]:
        exec(compile(prepared(block, database), "python-asyncio.md", "exec", dont_inherit=True), names)
    return names


def test_the_page(database: str, connection: firearrow.Connection) -> None:
    assert len(TOLD.findall(PAGE)) == 10
    names = play(database)
    assert connection.execute("SELECT id, stock FROM product ORDER BY id").fetchall() == [
        (1, 5),
        (2, 2),
        (3, 0),
    ]
    assert names["app"].state.pool.closed


def test_what_it_says_of_uvloop(database: str) -> None:
    uvloop = pytest.importorskip("uvloop")
    assert "`uvloop.run(main())`" in PAGE
    names = play(database, most=1)
    assert uvloop.run(names["names"]()) == ["Tea", "Coffee"]


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncGenerator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with app.router.lifespan_context(app), httpx2.AsyncClient(transport=transport) as client:
        client.base_url = httpx2.URL("http://shop")
        yield client


def test_many_requests_at_a_time(database: str, connection: firearrow.Connection) -> None:
    app = play(database, most=4)["app"]

    async def work() -> None:
        async with client_of(app) as client:
            answers = await asyncio.gather(*(client.get(f"/products/{n % 2 + 1}") for n in range(100)))
            assert [answer.json()["NAME"] for answer in answers] == ["Tea", "Coffee"] * 50
            # Each one is sold once, whatever comes in between.
            sales = await asyncio.gather(*(client.post("/products/1/sale") for _ in range(8)))
            assert sorted(sale.status_code for sale in sales) == [200] * 5 + [409] * 3
            assert sorted(sale.json() for sale in sales if sale.status_code == 200) == [0, 1, 2, 3, 4]
            stats = app.state.pool.stats
            assert (stats.in_use, stats.size <= 10) == (0, True)
        assert app.state.pool.stats.size == 0

    run(work())
    assert connection.execute("SELECT stock FROM product WHERE id = 1").fetchone() == (0,)


def test_an_error_rolls_back(database: str, connection: firearrow.Connection) -> None:
    names = play(database, most=4)
    app = names["app"]

    async def half(connection: aio.Connection) -> None:
        await connection.execute("DELETE FROM product")
        raise ZeroDivisionError

    half.__annotations__["connection"] = names["Connection"]
    app.post("/half")(half)

    async def work() -> None:
        async with client_of(app) as client:
            assert (await client.post("/half")).status_code == 500
            assert app.state.pool.stats.in_use == 0

    run(work())
    assert connection.execute("SELECT COUNT(*) FROM product").fetchone() == (2,)


def test_a_failed_commit_is_no_success(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer waits for the commit."""
    app = play(database, most=4)["app"]

    async def fail(connection: aio.PooledConnection) -> None:
        raise firearrow.OperationalError("the commit failed")

    async def work() -> None:
        async with client_of(app) as client:
            monkeypatch.setattr(aio.PooledConnection, "commit", fail)
            assert (await client.post("/products?number=9&name=x")).status_code == 500

    run(work())


def test_a_busy_pool_is_told(database: str) -> None:
    app = play(database, most=4)["app"]

    async def work() -> None:
        async with client_of(app) as client:
            app.state.pool._policy.limits = firearrow._pooling.Limits(max_size=1, acquire_timeout=0.2)
            async with app.state.pool.connection():
                assert (await client.get("/products/1")).status_code == 503
            assert (await client.get("/products/1")).status_code == 200

    run(work())


def test_a_client_that_leaves(database: str) -> None:
    """A task that serves a request is cancelled, as servers do when a client disconnects."""
    app = play(database, most=4)["app"]

    async def work() -> None:
        async with client_of(app) as client:
            for turn in range(20):
                tasks = [asyncio.create_task(client.get("/products")) for _ in range(4)]
                tasks += [asyncio.create_task(client.post("/products/2/sale")) for _ in range(2)]
                await asyncio.sleep(0.002 * turn)
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks, timeout=20)
                assert all(task.done() for task in tasks)
            pool = app.state.pool
            for _ in range(200):
                if not pool.stats.in_use:
                    break
                await asyncio.sleep(0.05)
            assert pool.stats.in_use == 0 and pool.stats.waiting == 0
            assert re.match("Tea: 5\nCoffee: [0-3]\n", (await client.get("/products")).text)

    run(work())

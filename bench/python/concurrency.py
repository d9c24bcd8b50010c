"""1,000 queries over 20 connections: tasks, threads, and the threads of a program in Rust."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import firearrow
import firearrow.aio

from bulk import same
from drivers import Place
from measure import OURS, ROUNDS, Sample, first_line

QUERIES = 1000
CONNECTIONS = 20
# That of crates/client/examples/connections.rs.
QUERY = "SELECT FIRST 10 R.RDB$RELATION_ID FROM RDB$RELATIONS R WHERE R.RDB$RELATION_ID > ? ORDER BY 1"
CASE = f"{QUERIES:,} queries over {CONNECTIONS} connections"


def concurrent(place: Place, notes: list[str]) -> list[Sample]:
    try:
        return asyncio.run(measured(place, notes))
    except Exception as failed:
        notes.append(f"{CASE}: {first_line(failed)}")
        return []


Borrow = Callable[[], AbstractAsyncContextManager[Any]]


async def measured(place: Place, notes: list[str]) -> list[Sample]:
    """In every round each way, in turn."""
    samples: list[Sample] = []
    rust = os.environ.get("FIREARROW_CONNECTIONS")
    if rust is None:
        notes.append(f"{CASE}: FIREARROW_CONNECTIONS names no program in Rust")
    blocking = [firearrow.connect(place.url, autocommit=True) for _ in range(CONNECTIONS)]
    expected = blocking[0].execute(QUERY, ("0",)).fetchall()
    same(len(expected), 10)

    def work(connection: firearrow.Connection) -> None:
        for _ in range(QUERIES // CONNECTIONS):
            same(connection.execute(QUERY, ("0",)).fetchall(), expected)

    async def query(borrow: Borrow) -> None:
        async with borrow() as connection:
            cursor = await connection.execute(QUERY, ("0",))
            same(await cursor.fetchall(), expected)

    async with pool(place, notes) as borrow:
        with ThreadPoolExecutor(CONNECTIONS) as threads:
            await asyncio.gather(*(query(borrow) for _ in range(QUERIES)))
            for number in range(ROUNDS):
                clock = Clock(number)
                await asyncio.gather(*(query(borrow) for _ in range(QUERIES)))
                samples.append(clock.sample(OURS))
                clock = Clock(number)
                list(threads.map(work, blocking))
                samples.append(clock.sample("20 threads in Python"))
                if rust:
                    done = subprocess.run(
                        [rust, "0", str(CONNECTIONS), "1"], env={**os.environ, "FIREARROW_URL": place.url},
                        stdout=subprocess.PIPE, text=True, timeout=120, check=True,
                    )  # fmt: skip
                    rate = re.search(rf"^{CONNECTIONS} threads (\d+) queries/s", done.stdout, re.MULTILINE)
                    if rate is None:
                        raise RuntimeError(f"no rate in {done.stdout!r}")
                    samples.append({**clock.sample("20 threads in Rust"), "seconds": QUERIES / int(rate[1]), "cpu": 0.0})
    for connection in blocking:
        connection.close()
    return samples


class Clock:
    def __init__(self, number: int) -> None:
        self.number, self.cpu, self.begin = number, time.process_time(), time.perf_counter()

    def sample(self, driver: str) -> Sample:
        return {
            "case": CASE, "round": self.number, "driver": driver, "seconds": time.perf_counter() - self.begin,
            "cpu": time.process_time() - self.cpu, "count": QUERIES,
        }  # fmt: skip


@asynccontextmanager
async def pool(place: Place, notes: list[str]) -> AsyncIterator[Borrow]:
    """firearrow's pool, or while there is none a queue of connections."""
    kind = getattr(firearrow.aio, "Pool", None)
    if kind is not None:
        async with kind(place.url, min_size=CONNECTIONS, max_size=CONNECTIONS, autocommit=True) as pool:
            await pool.wait(60)
            yield pool.connection
        return
    notes.append(f"{CASE}: firearrow.aio has no pool here; tasks take connections from a queue")
    idle: asyncio.Queue[Any] = asyncio.Queue()
    opened = [await firearrow.aio.connect(place.url, autocommit=True) for _ in range(CONNECTIONS)]
    for connection in opened:
        idle.put_nowait(connection)

    @asynccontextmanager
    async def borrow() -> AsyncIterator[Any]:
        connection = await idle.get()
        try:
            yield connection
        finally:
            idle.put_nowait(connection)

    yield borrow
    for connection in opened:
        await connection.close()

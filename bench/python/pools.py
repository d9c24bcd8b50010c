"""Threads that share a pool: how much they get done together, and whether each gets its share."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import firearrow

from bulk import checked, same
from drivers import Place
from measure import FIGURE, OURS, Sample

QUERIES = 100
CONNECTIONS = 4
QUERY = "SELECT FIRST 10 R.RDB$RELATION_ID FROM RDB$RELATIONS R WHERE R.RDB$RELATION_ID > ? ORDER BY 1"


class Times:
    """When each thread of the last run was done, and the longest wait for a connection."""

    def __init__(self) -> None:
        self.ends: list[float] = []
        self.longest: list[float] = []


def shared(place: Place, others: dict[str, Any], notes: list[str]) -> list[Sample]:
    samples: list[Sample] = []
    with (
        firearrow.Pool(place.url, min_size=CONNECTIONS, max_size=CONNECTIONS, autocommit=True) as pool,
        firearrow.connect(place.url) as one,
    ):
        pool.wait(60)
        expected = [tuple(row) for row in one.execute(QUERY, (0,)).fetchall()]
        same(len(expected), 10)
        for number in (2, 4, 8):
            own = [firearrow.connect(place.url, autocommit=True) for _ in range(number)]
            times = Times()

            def pooled(_: int, times: Times = times) -> Any:
                longest = 0.0
                for _ in range(QUERIES):
                    begin = time.perf_counter()
                    with pool.connection() as connection:
                        longest = max(longest, time.perf_counter() - begin)
                        found = connection.execute(QUERY, (0,)).fetchall()
                    same(found, expected)
                times.longest.append(longest)
                return QUERIES

            def alone(thread: int, own: list[firearrow.Connection] = own) -> Any:
                for _ in range(QUERIES):
                    same(own[thread].execute(QUERY, (0,)).fetchall(), expected)
                return QUERIES

            def fast(_: int) -> Any:
                for _ in range(QUERIES):
                    same([tuple(row) for row in others["fbfast"](QUERY, (0,))], expected)
                return QUERIES

            works: dict[str, Callable[[], Any]] = {
                OURS: lambda number=number, work=pooled, times=times: together(number, work, times),
                "a connection for each thread": lambda number=number, work=alone: together(number, work, Times()),
            }
            if "fbfast" in others:
                works["fbfast"] = lambda number=number, work=fast: together(number, work, Times())
            shares: list[float] = []

            def check(driver: str, done: Any, number: int = number, times: Times = times) -> None:
                same(done, [QUERIES] * number)
                if driver == OURS:
                    shares.append(min(times.ends) / max(times.ends))

            case = f"threads over a pool of {CONNECTIONS}: {number} threads, {QUERIES} queries each"
            found = checked(case, works, check, number * QUERIES, notes)
            samples += found
            if found:
                notes.append(
                    f"{FIGURE}{case}: the first thread took {sorted(shares)[len(shares) // 2]:.0%} of the last one's time"
                    f" (median), and no thread waited longer than {max(times.longest) * 1e3:.1f} ms for a connection"
                )
            for connection in own:
                connection.close()
    return samples


def together(number: int, work: Callable[[int], Any], times: Times) -> list[Any]:
    """Runs threads that begin at once; what each returns."""
    barrier = Barrier(number)
    times.ends.clear()

    def begin(thread: int) -> Any:
        barrier.wait(60)
        start = time.perf_counter()
        done = work(thread)
        times.ends.append(time.perf_counter() - start)
        return done

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(begin, range(number)))

"""Small statements, connections and the pool, on a table of 1,000 rows."""

from __future__ import annotations

import asyncio
import datetime
import statistics
import time
from collections.abc import Callable
from typing import Any

import firearrow
import firearrow.aio

from bulk import checked, same
from drivers import DbApi, FirebirdDriver, FirebirdSql, Place
from exchange import Exchange
from measure import FIGURE, OURS, Sample, first_line

ONE = "SELECT 1 FROM RDB$DATABASE"
TABLE = "BENCH_SMALL"
ROWS = [(i, f"row_{i:04d}", 7 * i, 1.5 * i, datetime.date(2026, 5, 4) if i % 2 else None) for i in range(1000)]
CALLS = 200


def fill(connection: firearrow.Connection) -> None:
    if connection.catalog.tables(TABLE):
        connection.execute(f"DROP TABLE {TABLE}")
        connection.commit()
    connection.execute(
        f"CREATE TABLE {TABLE} (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(64), COUNTER INTEGER, "
        "VAL DOUBLE PRECISION, CREATED DATE)"
    )
    connection.commit()
    connection.executemany(f"INSERT INTO {TABLE} VALUES (?, ?, ?, ?, ?)", ROWS)
    connection.commit()


def selects(connection: firearrow.Connection, others: dict[str, Any], notes: list[str]) -> list[Sample]:
    """The end-to-end cases of one statement."""
    samples: list[Sample] = []
    columns = "RDB$RELATION_ID, RDB$RELATION_NAME, RDB$SYSTEM_FLAG, RDB$DBKEY_LENGTH"
    system = f"SELECT FIRST 10 {columns} FROM RDB$RELATIONS ORDER BY 1"
    cases: list[tuple[str, str, tuple[Any, ...], int]] = [
        ("one row by its key", f"SELECT * FROM {TABLE} WHERE ID = ?", (42,), 1),
        ("10 system rows of 4 columns", system, (), 10),
        ("1,000 rows", f"SELECT * FROM {TABLE} ORDER BY ID", (), 1000),
        ("rows with COUNTER > 5000", f"SELECT * FROM {TABLE} WHERE COUNTER > ? ORDER BY ID", (5000,), 285),
    ]
    for name, sql, parameters, count in cases:
        expected = connection.execute(sql, parameters).fetchall()
        same(len(expected), count)
        works: dict[str, Callable[[], Any]] = {
            OURS: lambda sql=sql, parameters=parameters: connection.execute(sql, parameters).fetchall()
        }
        works |= {
            other: lambda fetch=fetch, sql=sql, parameters=parameters: fetch(sql, parameters)
            for other, fetch in others.items()
        }

        def check(_: str, rows: Any, expected: Any = expected) -> None:
            same([trimmed(row) for row in rows], [trimmed(row) for row in expected])

        samples += checked(f"select: {name}", works, check, 1, notes, repeat=20)
    return samples


def trimmed(row: Any) -> tuple[Any, ...]:
    """CHAR is padded by some drivers."""
    return tuple(value.rstrip() if isinstance(value, str) else value for value in row)


def prepared(place: Place, others: dict[str, Any], notes: list[str]) -> list[Sample]:
    """A prepared SELECT 1, beside the same packets sent by a socket alone."""
    samples: list[Sample] = []
    loop = asyncio.new_event_loop()
    exchange = Exchange(place.url)
    try:
        recorded = firearrow.connect(exchange.url)
        cursor = recorded.cursor()
        exchange.record(lambda: cursor.execute(ONE).fetchall())
        connection = firearrow.connect(place.url)
        own = connection.cursor()
        awaited = loop.run_until_complete(firearrow.aio.connect(place.url))
        awaited_cursor = awaited.cursor()

        async def calls() -> Any:
            for _ in range(CALLS):
                await awaited_cursor.execute(ONE)
                rows = await awaited_cursor.fetchall()
            return rows

        def repeated(work: Callable[[], Any]) -> Any:
            for _ in range(CALLS):
                result = work()
            return result

        works: dict[str, Callable[[], Any]] = {
            OURS: lambda: repeated(lambda: own.execute(ONE).fetchall()),
            "firearrow.aio": lambda: loop.run_until_complete(calls()),
            "the same packets": lambda: repeated(exchange),
        }
        if isinstance(others.get("firebird-driver"), FirebirdDriver):
            works["firebird-driver"] = lambda: repeated(lambda: others["firebird-driver"].again(ONE))
        if "firebirdsql" in others:
            works["firebirdsql (not prepared)"] = lambda: repeated(lambda: others["firebirdsql"](ONE))
        if "fbfast" in others:
            works["fbfast"] = lambda: repeated(lambda: others["fbfast"](ONE))

        def check(driver: str, result: Any) -> None:
            if driver == "the same packets":
                same(result, exchange.response)
            else:
                same([tuple(row) for row in result], [(1,)])

        samples += checked("SELECT 1, prepared", works, check, CALLS, notes)
        notes.append(percentiles(lambda: own.execute(ONE).fetchall()))
        connection.close()
        loop.run_until_complete(awaited.close())
    except Exception as failed:
        notes.append(f"SELECT 1, prepared: {first_line(failed)}")
    finally:
        exchange.close()
        loop.close()
    return samples


def percentiles(call: Callable[[], Any]) -> str:
    """Of 1,000 calls after 20."""
    for _ in range(20):
        call()
    times = []
    for _ in range(1000):
        begin = time.perf_counter()
        same(call(), [(1,)])
        times.append((time.perf_counter() - begin) * 1e6)
    cuts = statistics.quantiles(times, n=100)
    named = {"p50": cuts[49], "p90": cuts[89], "p95": cuts[94], "p99": cuts[98], "max": max(times)}
    return FIGURE + "SELECT 1, prepared, of 1,000 calls: " + ", ".join(f"{name} {us:.0f} µs" for name, us in named.items())


def connections(place: Place, notes: list[str]) -> list[Sample]:
    """Connecting and closing, and the pool."""

    def cold(open_one: Callable[[], Any]) -> Any:
        connection = open_one()
        rows = DbApi(connection)(ONE)
        connection.close()
        return rows

    works: dict[str, Callable[[], Any]] = {
        OURS: lambda: cold(lambda: firearrow.connect(place.url)),
        "firebird-driver": lambda: cold(lambda: FirebirdDriver.open(place)),
        "firebirdsql": lambda: cold(lambda: FirebirdSql.open(place)),
    }

    def check(_: str, rows: Any) -> None:
        same([tuple(row) for row in rows], [(1,)])

    samples = checked("connect, SELECT 1 and close", works, check, 1, notes, repeat=2)

    with firearrow.Pool(place.url, min_size=1, max_size=4, autocommit=True) as pool:
        pool.wait(30)
        alone = firearrow.connect(place.url, autocommit=True)

        def pooled() -> Any:
            with pool.connection() as connection:
                return connection.execute(ONE).fetchall()

        def empty() -> Any:
            with pool.connection():
                return [(1,)]

        works = {
            OURS: pooled,
            "the query alone": lambda: alone.execute(ONE).fetchall(),
            "acquire and release alone": empty,
        }
        samples += checked("pool: acquire, SELECT 1, release", works, check, 1, notes, repeat=CALLS)
        alone.close()
    return samples

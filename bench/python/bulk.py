"""Large results and many rows of parameters."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import firearrow
from firearrow._base import engine_release

from measure import OURS, Sample, Wrong, first_line, measure

ROWS = int(os.environ.get("BENCH_ROWS", "200000"))

FIVE = "INTEGER, VARCHAR, INTEGER, DOUBLE, DATE"
QUERIES = {
    "10 INTEGER": f"SELECT * FROM T_INT10 ROWS {ROWS}",
    FIVE: f"SELECT ID, V16, I32, F64, DT FROM T_WIDE ROWS {ROWS // 2}",
    "22 columns": f"SELECT * FROM T_WIDE ROWS {ROWS // 4}",
}

# Only whole tables can be read by several connections. T_INT10 was made with ROWS rows (scripts/bench-python.sh).
WHOLE = {"10 INTEGER": "SELECT * FROM T_INT10"}
SEVERAL = f"{OURS}, 2 readers"

Rows = Sequence[tuple[Any, ...]]


def fetches(connection: firearrow.Connection, others: dict[str, Any], notes: list[str]) -> list[Sample]:
    samples: list[Sample] = []
    for name, sql in QUERIES.items():
        ours = connection.execute(sql).fetchall()
        samples += tuples(name, sql, ours, connection, others, notes)
        for form, of_ours, method, agree in (
            ("Arrow", firearrow.Cursor.fetch_arrow_table, "arrow", agrees_in_arrow),
            ("JSON", firearrow.Cursor.fetch_json, "json", agrees_in_json),
        ):
            works = firearrow_works(connection, name, sql, of_ours)
            if hasattr(others.get("fbfast"), method):
                works["fbfast"] = lambda method=method, sql=sql: getattr(others["fbfast"], method)(sql)
            if form == "Arrow" and "firebird-driver" in others:
                works["firebird-driver"] = lambda sql=sql: table_of(others["firebird-driver"], sql)
            works = that_agree(f"{form}, {name}", works, lambda result, agree=agree: agree(ours, result), notes)
            if OURS in works:
                size = {driver: length(work()) for driver, work in works.items()}
                samples += attempt(
                    f"{form}: {name}",
                    works,
                    lambda driver, result, size=size: same(length(result), size[driver]),
                    len(ours),
                    notes,
                )
    return samples


def firearrow_works(
    connection: firearrow.Connection, name: str, sql: str, fetch: Callable[[firearrow.Cursor], Any]
) -> dict[str, Callable[[], Any]]:
    """What firearrow does on one connection, and on two for whole tables."""
    works: dict[str, Callable[[], Any]] = {OURS: lambda: fetch(connection.execute(sql))}
    # Firebird 3 cannot share a snapshot.
    if name in WHOLE and engine_release(connection.info) >= 4:
        works[SEVERAL] = lambda: fetch(connection.cursor().execute(WHOLE[name], parallel=2))
    return works


def tuples(
    name: str,
    sql: str,
    ours: Rows,
    connection: firearrow.Connection,
    others: dict[str, Any],
    notes: list[str],
) -> list[Sample]:
    works = firearrow_works(connection, name, sql, firearrow.Cursor.fetchall)
    works |= {other: lambda fetch=fetch: fetch(sql) for other, fetch in others.items()}
    works = that_agree(name, works, lambda result: agrees(ours, result), notes)
    columns = list(zip(*ours, strict=True))
    works["the same tuples from lists"] = lambda: list(zip(*columns, strict=True))
    return attempt(f"tuples: {name}", works, lambda _, result: same(len(result), len(ours)), len(ours), notes)


def that_agree(
    name: str, works: dict[str, Callable[[], Any]], agree: Callable[[Any], None], notes: list[str]
) -> dict[str, Callable[[], Any]]:
    """Leaves out what fails, and what fetches other values."""
    found = {}
    for driver, work in works.items():
        try:
            agree(work())
            found[driver] = work
        except Exception as failed:
            notes.append(f"{driver}, {name}: {first_line(failed)}")
    return found


def attempt(
    case: str,
    works: dict[str, Callable[[], Any]],
    check: Callable[[str, Any], None],
    count: int,
    notes: list[str],
    repeat: int = 1,
) -> list[Sample]:
    try:
        return measure(case, works, check, count, repeat)
    except Wrong as failed:
        notes.append(f"{case}: {failed}")
        return []


def checked(
    case: str,
    works: dict[str, Callable[[], Any]],
    check: Callable[[str, Any], None],
    count: int,
    notes: list[str],
    repeat: int = 1,
) -> list[Sample]:
    """Measures what works once; leaves out drivers that fail or do something else."""
    found: dict[str, Callable[[], Any]] = {}
    for driver, work in works.items():
        try:
            check(driver, work())
            found[driver] = work
        except Exception as failed:
            notes.append(f"{driver}, {case}: {first_line(failed)}")
    return attempt(case, found, check, count, notes, repeat)


def same(found: object, expected: object) -> None:
    if found != expected:
        raise Wrong(f"{found!r} where {expected!r} should be"[:300])


def length(result: Any) -> int:
    return result.num_rows if hasattr(result, "num_rows") else len(result)


def agrees(ours: Rows, theirs: Sequence[Any]) -> None:
    same(len(theirs), len(ours))
    for a, b in zip(ours, theirs, strict=True):
        same(tuple(b), tuple(a))


def table_of(driver: Any, sql: str) -> Any:
    """What there is to do without Arrow in a driver."""
    import pyarrow

    rows = driver(sql)
    return pyarrow.table({f"C{number}": column for number, column in enumerate(zip(*rows, strict=True))})


def agrees_in_arrow(ours: Rows, table: Any) -> None:
    same(table.num_rows, len(ours))
    for expected, column in zip(zip(*ours, strict=True), table.columns, strict=True):
        same(agreed(column.to_pylist()), agreed(expected))


def agreed(column: Sequence[Any]) -> list[Any]:
    """What drivers may show in different classes: texts and numbers."""
    return [value.decode() if isinstance(value, bytes) else value for value in column]


def agrees_in_json(ours: Rows, text: bytes) -> None:
    objects = json.loads(text)
    same(len(objects), len(ours))
    for expected, found in zip(ours, objects, strict=True):
        same(len(found), len(expected))
        for value, shown in zip(expected, found.values(), strict=True):
            # Others are written in different ways, and FLOAT as short as it can be.
            if isinstance(value, float):
                same(math.isclose(value, float(shown), rel_tol=1e-7), True)
            elif value is None or type(value) in (int, str):
                same(None if shown is None else str(shown), None if value is None else str(value))


def inserts(connection: firearrow.Connection, others: dict[str, Any], notes: list[str]) -> list[Sample]:
    """10,000 rows in one transaction, and 1,000."""
    table = "BENCH_PYTHON"
    if connection.catalog.tables(table):
        connection.execute(f"DROP TABLE {table}")
        connection.commit()
    connection.execute(f"CREATE TABLE {table} (ID INTEGER, NAME VARCHAR(64), VAL DOUBLE PRECISION)")
    connection.commit()
    sql = f"INSERT INTO {table} VALUES (?, ?, ?)"
    samples: list[Sample] = []
    for count in (10_000, 1_000):
        rows = [(number, f"row_{number:04d}", float(number)) for number in range(count)]

        def check(driver: str, result: object, rows: Rows = rows) -> None:
            found = connection.execute(f"SELECT COUNT(*), SUM(ID), SUM(VAL), MAX(NAME) FROM {table}").fetchone()
            connection.execute(f"DELETE FROM {table}")
            connection.commit()
            expected = (
                len(rows),
                sum(row[0] for row in rows),
                sum(row[2] for row in rows),
                max(row[1] for row in rows),
            )
            same(found, expected)

        def ours(rows: Rows = rows) -> None:
            connection.executemany(sql, rows)
            connection.commit()

        works: dict[str, Callable[[], Any]] = {OURS: ours}
        for other, driver in others.items():
            if hasattr(driver, "insert"):
                works[other] = lambda driver=driver, rows=rows: driver.insert(sql, rows)
        samples += checked(f"executemany: {count:,} rows", works, check, count, notes)
    return samples

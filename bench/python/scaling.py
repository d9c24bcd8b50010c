"""How time grows with rows and with columns, and what columns of each type cost."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import firearrow

from bulk import Rows, checked, same
from measure import OURS, Sample

SIZES = (1_000, 10_000, 100_000) + ((1_000_000,) if os.environ.get("BENCH_MILLION") else ())
WIDTHS = (5, 20, 50, 100)
# Drivers that send each row alone take minutes for more.
MOST_ALONE = 10_000

TYPES: dict[str, Callable[[int], Any]] = {
    "INTEGER": lambda n: 7 * n,
    "SMALLINT": lambda n: n % 30_000,
    "VARCHAR(64)": lambda n: f"row_{n:04d}",
    "DECIMAL(12,2)": lambda n: Decimal(n) / 4,
    "DATE": lambda n: datetime.date(2026, 5, 4) - datetime.timedelta(n % 10_000),
    "FLOAT": lambda n: n * 0.5,
}


def scaled(connection: firearrow.Connection, others: dict[str, Any], notes: list[str]) -> list[Sample]:
    samples: list[Sample] = []
    columns = "ID INTEGER, NAME VARCHAR(64), VAL DOUBLE PRECISION"
    for size in SIZES:
        rows = [(number, f"row_{number:04d}", float(number)) for number in range(size)]
        samples += both(f"{size:,} rows", columns, rows, "growing", connection, others, notes)
    for width in WIDTHS:
        columns = ", ".join(f"C{number} INTEGER" for number in range(width))
        rows = [tuple(range(number, number + width)) for number in range(1000)]
        samples += both(f"{width} INTEGER of 1,000 rows", columns, rows, "wide", connection, others, notes)
    for name, value in TYPES.items():
        rows = [(value(number),) for number in range(10_000)]
        samples += both(f"10,000 {name}", f"V {name}", rows, "types", connection, others, notes)
    return samples


def both(
    name: str,
    columns: str,
    rows: Rows,
    what: str,
    connection: firearrow.Connection,
    others: dict[str, Any],
    notes: list[str],
) -> list[Sample]:
    """Inserts rows in one transaction, and selects them; every round compares all values."""
    table = "BENCH_SCALED"
    for other in others.values():
        # A transaction that has read the table would keep it.
        if hasattr(other, "refresh"):
            other.refresh()
    connection.commit()
    connection.execute(f"RECREATE TABLE {table} ({columns})")
    connection.commit()
    insert = f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})"
    select = f"SELECT * FROM {table}"

    def ours() -> None:
        connection.executemany(insert, rows)
        connection.commit()

    def is_there(_: str, __: object) -> None:
        same_rows(connection.execute(select).fetchall(), rows)
        connection.execute(f"DELETE FROM {table}")
        connection.commit()

    works: dict[str, Callable[[], Any]] = {OURS: ours}
    for other, driver in others.items():
        if hasattr(driver, "insert") and len(rows) <= MOST_ALONE:
            works[other] = lambda driver=driver: driver.insert(insert, rows)
    samples = checked(f"{what}, inserted: {name}", works, is_there, len(rows), notes)

    # Without the versions of the rows that were deleted.
    connection.execute(f"RECREATE TABLE {table} ({columns})")
    connection.commit()
    ours()
    works = {OURS: lambda: connection.execute(select).fetchall()}
    works |= {other: lambda driver=driver: driver(select) for other, driver in others.items()}
    samples += checked(
        f"{what}, selected: {name}", works, lambda _, found: same_rows(found, rows), len(rows), notes
    )
    return samples


def same_rows(found: Any, rows: Rows) -> None:
    same(len(found), len(rows))
    for a, b in zip(found, rows, strict=True):
        if tuple(a) != b:
            same(tuple(a), b)

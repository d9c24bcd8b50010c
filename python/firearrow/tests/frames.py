"""Arrow tables of numbers and texts, and what is stored of them."""

from __future__ import annotations

from typing import Any

import pytest

import firearrow

pyarrow = pytest.importorskip("pyarrow")


def numbers(count: int, start: int = 0) -> Any:
    """An Arrow table with the columns ID and NAME."""
    ids = range(start, start + count)
    names = pyarrow.array([f"n{id}" if id % 3 else None for id in ids], pyarrow.string())
    return pyarrow.table({"ID": pyarrow.array(ids, pyarrow.int32()), "NAME": names})


def expected(count: int) -> list[Any]:
    """The rows of the first numbers."""
    return [(id, f"n{id}" if id % 3 else None) for id in range(count)]


def rows(connection: firearrow.Connection, table: str) -> list[Any]:
    """What others see."""
    found = connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
    connection.commit()
    return found

"""Rows at random, written by ``execute`` and by ``executemany``, read back by a second connection."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import firearrow


def tenths(value: datetime.datetime) -> datetime.datetime:
    """Return the moment in units of 100 µs, which is what Firebird has."""
    return value.replace(microsecond=value.microsecond // 100 * 100)


moments = st.datetimes().map(tenths)
# Without surrogates, which are no characters.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=100)

# SQL type, values, first version.
COLUMNS: list[tuple[str, st.SearchStrategy[Any], int]] = [
    ("SMALLINT", st.integers(-(2**15), 2**15 - 1), 3),
    ("INTEGER", st.integers(-(2**31), 2**31 - 1), 3),
    ("BIGINT", st.integers(-(2**63), 2**63 - 1), 3),
    ("INT128", st.integers(-(2**127), 2**127 - 1), 4),
    ("NUMERIC(18,4)", st.integers(-(2**63), 2**63 - 1).map(lambda n: Decimal(n).scaleb(-4)), 3),
    ("NUMERIC(38,10)", st.integers(-(10**38) + 1, 10**38 - 1).map(lambda n: scaled(n, 10)), 4),
    ("FLOAT", st.floats(allow_nan=False, width=32), 3),
    ("DOUBLE PRECISION", st.floats(allow_nan=False), 3),
    ("BOOLEAN", st.booleans(), 3),
    ("DATE", st.dates(), 3),
    ("TIME", moments.map(datetime.datetime.time), 3),
    ("TIMESTAMP", moments, 3),
    ("TIMESTAMP WITH TIME ZONE", moments.map(lambda value: value.replace(tzinfo=datetime.timezone.utc)), 4),
    ("VARCHAR(100)", texts, 3),
    ("VARCHAR(50) CHARACTER SET WIN1252", st.text("aäÖß€ÿ \n~", max_size=50), 3),
    ("VARCHAR(50) CHARACTER SET OCTETS", st.binary(max_size=50), 3),
    ("BLOB SUB_TYPE TEXT", texts, 3),
    ("BLOB", st.binary(max_size=200), 3),
    (
        "DECFLOAT(34)",
        st.tuples(st.integers(-(10**34) + 1, 10**34 - 1), st.integers(-6000, 6000)).map(
            lambda pair: scaled(pair[0], -pair[1])
        ),
        4,
    ),
]


def scaled(unscaled: int, digits: int) -> Decimal:
    """Return a decimal with these digits after the point, whatever the context's precision is."""
    sign = 1 if unscaled < 0 else 0
    return Decimal((sign, tuple(int(digit) for digit in str(abs(unscaled))), -digits))


def rows(version: int) -> st.SearchStrategy[list[tuple[Any, ...]]]:
    values = [st.none() | strategy for _, strategy, since in COLUMNS if since <= version]
    return st.lists(st.tuples(*values), max_size=20)


@pytest.fixture(scope="module")
def place(database: str) -> Iterator[tuple[firearrow.Connection, firearrow.Connection, str]]:
    """Two connections and a table with a column of each type."""
    with firearrow.connect(database) as writer, firearrow.connect(database) as reader:
        version = int(str(writer.info["engine_version"]).split(".")[0])
        types = [sql_type for sql_type, _, since in COLUMNS if since <= version]
        columns = ", ".join(f"c{number} {sql_type}" for number, sql_type in enumerate(types))
        writer.execute(f"RECREATE TABLE random_rows (id INTEGER, {columns})")
        writer.commit()
        markers = ", ".join("?" * (len(types) + 1))
        yield writer, reader, f"INSERT INTO random_rows VALUES ({markers})"


@pytest.mark.parametrize("way", ["execute", "executemany", "generator"])
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
    derandomize=True,
    database=None,
)
@given(data=st.data())
def test_random_rows(
    place: tuple[firearrow.Connection, firearrow.Connection, str], way: str, data: st.DataObject
) -> None:
    writer, reader, insert = place
    version = int(str(writer.info["engine_version"]).split(".")[0])
    written = [(number, *row) for number, row in enumerate(data.draw(rows(version)))]
    writer.execute("DELETE FROM random_rows")
    if way == "execute":
        for row in written:
            writer.execute(insert, row)
    elif way == "executemany":
        writer.executemany(insert, written)
    else:
        writer.executemany(insert, (list(row) for row in written))
    writer.commit()
    reader.rollback()
    assert reader.execute("SELECT * FROM random_rows ORDER BY id").fetchall() == written

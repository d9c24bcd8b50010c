"""A server for Spark, Ray and Dask: FIREARROW_TEST_URLS has the URL of its database, which the tests create."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import firearrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Workers are started with the tests' own Python.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

_numbers = itertools.count(1)
ROWS = 40_000


@pytest.fixture(scope="session")
def database() -> str:
    """The URL of a database on a server."""
    url = os.environ["FIREARROW_TEST_URLS"].split()[0]
    firearrow.connect(url, create_if_missing=True).close()
    return url


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """A session with two tasks at a time."""
    from sessions import session

    spark = session()
    yield spark
    spark.stop()


@pytest.fixture
def connection(database: str) -> Iterator[firearrow.Connection]:
    """A connection, which is closed at the end, after which nothing is in limbo."""
    with closing(firearrow.connect(database)) as connection:
        yield connection
        connection.rollback()
        assert connection.limbo_transactions() == []


@pytest.fixture
def version(connection: firearrow.Connection) -> int:
    """The engine's major release."""
    return int(str(connection.info["engine_version"]).split(".")[0])


@pytest.fixture
def table() -> str:
    """A table name that no other test uses."""
    return f"T{next(_numbers)}"


@pytest.fixture
def large(connection: firearrow.Connection, table: str) -> str:
    """A table of several hundred pages: ids from 0, a text, and an amount of 1."""
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(100), amount NUMERIC(9,2))"
    )
    connection.commit()
    rows = pa.table(
        {
            "ID": pa.array(range(ROWS), pa.int32()),
            "NAME": [f"{n:090}" for n in range(ROWS)],
            "AMOUNT": pa.array([1] * ROWS, pa.int32()),
        }
    )
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    connection.commit()
    return table


def one(connection: firearrow.Connection, sql: str) -> Any:
    """The row of a query, as of now."""
    with connection.begin(isolation="read_committed", read_only=True, lock_timeout=60) as transaction:
        row = transaction.execute(sql).fetchone()
    return row[0] if len(row) == 1 else row

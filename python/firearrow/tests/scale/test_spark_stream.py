"""Spark reads new rows as they come."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from processes import until
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import firearrow


@pytest.fixture
def orders(connection: firearrow.Connection, table: str) -> str:
    """A table whose ids come from a generator."""
    connection.execute(f"CREATE TABLE {table} (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(20))")
    connection.execute(f"CREATE SEQUENCE s_{table}")
    connection.commit()
    return table


def insert(connection: firearrow.Connection, table: str) -> int:
    """A row with the generator's next number, in the connection's transaction."""
    sql = f"INSERT INTO {table} VALUES (NEXT VALUE FOR s_{table}, 'x') RETURNING id"
    return int(connection.execute(sql).fetchone()[0])


def stream(spark: SparkSession, database: str, table: str, **options: object) -> DataFrame:
    """The table as a stream."""
    reader = spark.readStream.format("firebird").option("url", database).option("dbtable", table)
    for name, value in {"offsetColumn": "ID", **options}.items():
        reader = reader.option(name, value)
    return reader.load()


def start(frame: DataFrame, folder: Path) -> StreamingQuery:
    """Write it to Parquet files."""
    writer = frame.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    return writer.trigger(processingTime="200 milliseconds").start(str(folder / "rows"))


def written(spark: SparkSession, folder: Path) -> list[int]:
    """The ids that are there."""
    try:
        return sorted(row.ID for row in spark.read.parquet(str(folder / "rows")).select("ID").collect())
    except Exception:
        return []


def test_rows_that_commit_late(
    spark: SparkSession, database: str, connection: firearrow.Connection, orders: str, tmp_path: Path
) -> None:
    """A lower number that becomes visible after a higher one is not missed."""
    insert(connection, orders)
    connection.commit()
    query = start(stream(spark, database, orders), tmp_path)
    try:
        until(lambda: written(spark, tmp_path) == [1])
        late = insert(connection, orders)
        with firearrow.connect(database) as other:
            higher = insert(other, orders)
        assert (late, higher) == (2, 3)
        time.sleep(3)
        # Number 3 is visible, but number 2 may still come.
        assert written(spark, tmp_path) == [1]
        connection.commit()
        until(lambda: written(spark, tmp_path) == [1, 2, 3])
        # One that is in limbo may come, too.
        transaction = connection.begin()
        sql = f"INSERT INTO {orders} VALUES (NEXT VALUE FOR s_{orders}, 'x')"
        transaction.execute(sql)
        transaction.prepare_commit("a stream has to wait")
        with firearrow.connect(database) as other:
            insert(other, orders)
        time.sleep(3)
        assert written(spark, tmp_path) == [1, 2, 3]
        transaction.commit()
        until(lambda: written(spark, tmp_path) == [1, 2, 3, 4, 5])
        assert query.exception() is None
    finally:
        query.stop()


def test_exactly_once(spark: SparkSession, database: str, orders: str, tmp_path: Path) -> None:
    """Many writers, and a query that is stopped and goes on: every row is there once."""
    done = threading.Event()
    committed: list[int] = []

    def write(seed: int) -> None:
        chance = random.Random(seed)
        with firearrow.connect(database) as mine:
            while not done.is_set():
                found = [insert(mine, orders) for _ in range(chance.randint(1, 5))]
                time.sleep(chance.random() / 20)
                if chance.random() < 0.2:
                    mine.rollback()
                else:
                    mine.commit()
                    committed.extend(found)

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(3)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(3):
            query = start(stream(spark, database, orders, numPartitions=2), tmp_path)
            time.sleep(5)
            query.stop()
            assert query.exception() is None
    finally:
        done.set()
        for writer in writers:
            writer.join()
    query = start(stream(spark, database, orders), tmp_path)
    try:
        until(lambda: written(spark, tmp_path) == sorted(committed))
    finally:
        query.stop()
    assert max(Counter(written(spark, tmp_path)).values()) == 1
    assert len(committed) > 50


@pytest.mark.parametrize(
    ("kind", "lowest", "settings"),
    [
        ("SMALLINT", -(2**15), ""),
        ("INTEGER", -(2**31), ""),
        ("DECIMAL(4)", -9999, ""),
        # It is stored as INTEGER, and can hold more digits than it declares; the URL must allow them.
        ("DECIMAL(4)", -(2**31), "?decimal_precision=range"),
        ("NUMERIC(18)", -(10**18) + 1, ""),
    ],
)
@pytest.mark.parametrize("options", [{}, {"numPartitions": 3}, {"startingOffset": -(2**62)}, {"startingOffset": -(2**62), "numPartitions": 3}])
def test_types_of_numbers(
    spark: SparkSession,
    database: str,
    connection: firearrow.Connection,
    table: str,
    tmp_path: Path,
    kind: str,
    lowest: int,
    settings: str,
    options: dict[str, int],
) -> None:
    """A stream begins below every number of the column, also where that does not fit its type."""
    connection.execute(f"CREATE TABLE {table} (id {kind} NOT NULL PRIMARY KEY)")
    connection.commit()
    connection.cursor().executemany(f"INSERT INTO {table} VALUES (?)", [(lowest,), (0,), (7,)])
    connection.commit()
    query = start(stream(spark, database + settings, table, **options), tmp_path)
    try:
        until(lambda: query.exception() or written(spark, tmp_path) == [lowest, 0, 7])
        assert query.exception() is None
    finally:
        query.stop()


def test_from_a_number(
    spark: SparkSession,
    database: str,
    connection: firearrow.Connection,
    orders: str,
    version: int,
    tmp_path: Path,
) -> None:
    """Rows up to the starting offset are not read. Whoever only reads does not hold the stream up."""
    for _ in range(10):
        insert(connection, orders)
    connection.commit()
    reading = connection.begin(isolation="snapshot", read_only=True)
    # Firebird 3 does not tell readers from writers.
    if version >= 4:
        reading.execute(f"SELECT COUNT(*) FROM {orders}").fetchone()
    query = start(stream(spark, database, orders, startingOffset=7, columns="ID"), tmp_path)
    try:
        until(lambda: written(spark, tmp_path) == [8, 9, 10])
    finally:
        query.stop()
        reading.rollback()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"offsetColumn": "NOTHING"}, "offsetColumn must be a column of the table, which has ID, NAME"),
        ({"offsetColumn": "NAME"}, "offsetColumn must be a column of integers"),
    ],
)
def test_wrong_options(
    spark: SparkSession, database: str, orders: str, tmp_path: Path, options: dict[str, str], text: str
) -> None:
    """Each error says what to do."""
    query = start(stream(spark, database, orders, **options), tmp_path)
    with pytest.raises(Exception, match=text):
        query.awaitTermination(60)

"""Spark writes tables."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator
from decimal import Decimal

import pytest
from conftest import one
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sessions import load, session, writing

import firearrow

SUMS = "SELECT COUNT(*), SUM(id), SUM(amount) FROM {}"


@pytest.fixture
def keyed(connection: firearrow.Connection, table: str) -> str:
    """A table with a key and ten rows with an amount of 5."""
    connection.execute(
        f"CREATE TABLE {table} (id BIGINT NOT NULL PRIMARY KEY, amount NUMERIC(12,2) CHECK (amount >= 0), name VARCHAR(20))"
    )
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, 5, 'old')", [(n,) for n in range(10)])
    connection.commit()
    return table


def rows(spark: SparkSession, first: int, last: int, parts: int = 4) -> object:
    """Rows with these ids and an amount of 1."""
    return spark.range(first, last, 1, parts).select(
        "id", F.lit(1).cast("decimal(12,2)").alias("amount"), F.lit("new").alias("name")
    )


def test_append(spark: SparkSession, database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Rows of all tasks are there."""
    writing(rows(spark, 100, 5100), database, keyed).save()
    assert one(connection, SUMS.format(keyed)) == (
        5010,
        sum(range(10)) + sum(range(100, 5100)),
        Decimal("5050.00"),
    )


def test_overwrite(spark: SparkSession, database: str, connection: firearrow.Connection, keyed: str) -> None:
    """All rows are replaced; keys, constraints and the table itself stay."""
    writing(rows(spark, 0, 3000), database, keyed, "overwrite").save()
    assert one(connection, SUMS.format(keyed)) == (3000, sum(range(3000)), Decimal("3000.00"))
    kinds = sorted(found.kind for found in connection.catalog.constraints(keyed))
    assert "check" in kinds and "primary key" in kinds


def test_upsert(spark: SparkSession, database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Rows with the same key are replaced, the others stay."""
    writing(rows(spark, 5, 1000), database, keyed).option("mode", "upsert").save()
    assert one(connection, SUMS.format(keyed)) == (1000, sum(range(1000)), Decimal("1020.00"))
    frame = spark.createDataFrame([("new", Decimal(7))], "name string, amount decimal(12,2)")
    with pytest.raises(Exception, match="the rows have no column 'ID', which is part of the key"):
        writing(frame, database, keyed).option("mode", "upsert").save()


def test_new_table(
    spark: SparkSession, database: str, connection: firearrow.Connection, table: str, version: int
) -> None:
    """Types of a table that is made, and back."""
    moment = datetime.datetime(2026, 7, 1, 12, 0, 0, 123400)
    frame = spark.createDataFrame(
        [
            (1, 2, 3, Decimal("1.25"), 0.5, True, "žluť", b"\0\1", datetime.date(2026, 1, 2), moment),
            (None,) * 10,
        ],
        "a short, b int, c long, d decimal(20,2), e double, f boolean, g string, h binary, i date, j timestamp_ntz",
    )
    writing(frame, database, table, textLength=50).save()
    types = [
        (found.type_name, found.characters, found.precision, found.scale)
        for found in connection.catalog.columns(table)
    ]
    assert types == [
        ("SMALLINT", None, None, 0),
        ("INTEGER", None, None, 0),
        ("BIGINT", None, None, 0),
        ("NUMERIC", None, 20 if version >= 4 else 18, 2),
        ("DOUBLE PRECISION", None, None, 0),
        ("BOOLEAN", None, None, 0),
        ("VARCHAR", 50, None, 0),
        ("BLOB SUB_TYPE BINARY", None, None, 0),
        ("DATE", None, None, 0),
        ("TIMESTAMP", None, None, 0),
    ]
    back = load(spark, database, dbtable=table)
    assert sorted(map(str, back.collect())) == sorted(map(str, frame.collect()))


def test_empty_frame(
    spark: SparkSession, database: str, connection: firearrow.Connection, keyed: str
) -> None:
    """No rows are written; an overwrite leaves none."""
    writing(rows(spark, 0, 0), database, keyed).save()
    assert one(connection, f"SELECT COUNT(*) FROM {keyed}") == 10
    writing(rows(spark, 0, 0), database, keyed, "overwrite").save()
    assert one(connection, f"SELECT COUNT(*) FROM {keyed}") == 0


def test_from_itself(
    spark: SparkSession, database: str, connection: firearrow.Connection, large: str, version: int
) -> None:
    """A table is read, changed and written back in one go."""
    frame = load(spark, database, dbtable=large, numPartitions=3)
    changed = frame.select(
        "ID", F.upper("NAME").alias("NAME"), (F.col("AMOUNT") + 1).cast("decimal(9,2)").alias("AMOUNT")
    )
    writing(changed, database, large, "overwrite").save()
    assert one(connection, f"SELECT COUNT(*), SUM(id), SUM(amount) FROM {large}") == (
        40000,
        40000 * 39999 // 2,
        Decimal("80000.00"),
    )


@pytest.mark.parametrize("mode", ["append", "overwrite", "upsert"])
def test_a_task_fails(
    spark: SparkSession, database: str, connection: firearrow.Connection, keyed: str, mode: str
) -> None:
    """Whether Spark's code fails, or the database refuses a row: nothing is written."""
    before = one(connection, SUMS.format(keyed))
    options = {"mode": "upsert"} if mode == "upsert" else {}
    saved = "append" if mode == "upsert" else mode
    failing = rows(spark, 100, 2000).withColumn(
        "name", F.when(F.col("id") == 1999, F.raise_error(F.lit("as planned"))).otherwise("new")
    )
    with pytest.raises(Exception, match="as planned"):
        writing(failing, database, keyed, saved).options(**options).save()
    assert one(connection, SUMS.format(keyed)) == before
    refused = rows(spark, 100, 2000).withColumn(
        "amount", F.when(F.col("id") == 1999, -1).otherwise(1).cast("decimal(12,2)")
    )
    with pytest.raises(Exception, match="CHECK constraint"):
        writing(refused, database, keyed, saved).options(**options).save()
    assert one(connection, SUMS.format(keyed)) == before
    too_long = rows(spark, 100, 2000).withColumn("name", F.lit("x" * 21))
    with pytest.raises(Exception, match="truncation"):
        writing(too_long, database, keyed, saved).options(**options).save()
    assert one(connection, SUMS.format(keyed)) == before
    assert [found.name for found in connection.catalog.tables() if "STAGE" in found.name] == []


@pytest.mark.parametrize(
    ("mode", "options", "text"),
    [
        ("append", {"query": "SELECT 1"}, "give either the option"),
        ("append", {"key": "ID", "mode": "merge"}, "mode accepts only upsert"),
        ("overwrite", {"mode": "upsert"}, "an upsert is written with"),
        ("append", {"isolationLevel": "READ_COMMITTED"}, "isolation[lL]evel of the JDBC source"),
    ],
)
def test_wrong_options(
    spark: SparkSession, database: str, keyed: str, mode: str, options: dict[str, str], text: str
) -> None:
    """Each error says what to do."""
    with pytest.raises(Exception, match=text):
        writing(rows(spark, 0, 10), database, keyed, mode).options(**options).save()


def test_other_columns(spark: SparkSession, database: str, keyed: str) -> None:
    """They are refused before any task begins."""
    with pytest.raises(
        Exception, match=f'table "{keyed}" has no column \'price\'; it has "ID", "AMOUNT", "NAME"'
    ):
        writing(spark.range(3).withColumnRenamed("id", "price"), database, keyed).save()


# With sessions of their own, which end that of the tests above.


def test_a_task_fails_and_is_repeated(
    database: str, connection: firearrow.Connection, keyed: str, tmp_path: object
) -> None:
    """The rows of the first attempt are not there twice."""
    spark = session("local[2,3]")
    mark = f"{tmp_path}/failed"

    def fail_once(batches: Iterator[object]) -> Iterator[object]:
        import os

        from pyspark import TaskContext

        for batch in batches:
            yield batch
        context = TaskContext.get()
        assert context is not None
        if context.partitionId() == 2 and not os.path.exists(mark):
            open(mark, "w").close()
            raise RuntimeError("the first attempt")

    frame = rows(spark, 100, 5100).mapInArrow(fail_once, "id long, amount decimal(12,2), name string")
    writing(frame, database, keyed).save()
    assert one(connection, SUMS.format(keyed)) == (
        5010,
        sum(range(10)) + sum(range(100, 5100)),
        Decimal("5050.00"),
    )
    spark.stop()


def test_worker_processes_of_their_own(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """As many writers as tasks, if Spark uses workers once."""
    spark = session(**{"spark.python.worker.reuse": "false"})
    writing(rows(spark, 100, 1100, 6), database, keyed).save()
    assert one(connection, f"SELECT COUNT(*) FROM {keyed}") == 1010
    spark.stop()


def test_two_jobs(database: str, connection: firearrow.Connection, keyed: str) -> None:
    """Both append to one table; if they have a key in common, one of them fails as a whole."""
    spark = session("local[4]")
    failed: list[Exception] = []

    def append(first: int) -> None:
        # Makes the session that of this thread, without which Spark does not look for data sources.
        spark.createDataFrame([], "nothing int")
        try:
            writing(rows(spark, first, first + 1000, 2), database, keyed, lockTimeout=20).save()
        except Exception as error:
            failed.append(error)

    for ranges, count in (((1000, 2000), 2010), ((5000, 5999), 3010)):
        jobs = [threading.Thread(target=append, args=(first,)) for first in ranges]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        assert len(failed) == (0 if count == 2010 else 1), failed
        assert one(connection, f"SELECT COUNT(*) FROM {keyed}") == count
    spark.stop()

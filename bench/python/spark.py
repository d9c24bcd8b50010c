"""Spark reads and writes a million rows of T_WIDE, with firearrow and with its JDBC source and Jaybird.

Usage: spark.py URL JAYBIRD.jar FOLDER   the database has the tables of `firearrow create-demo`

BENCH_SPARK_PARTS (4) partitions, BENCH_SPARK_MASTER (local[2]), BENCH_ROUNDS. The JDBC source divides by ranges of the key, as its
users do. What both have read is compared by two aggregates of every column before it is timed, and each time; what both have written by
counts and sums on the server.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import Any

import firearrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import measure
from measure import OURS, Wrong

JDBC = "JDBC with Jaybird"
PARTS = int(os.environ.get("BENCH_SPARK_PARTS", "4"))
TABLE = "T_WIDE"
TARGET = "BENCH_SPARK"
SUMS = "SELECT COUNT(*), SUM(id), SUM(dec_18_4), SUM(i32), MAX(md5_a), COUNT(v100), MAX(ts) FROM {}"


def main() -> None:
    url, jar, folder = sys.argv[1:]
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    master = os.environ.get("BENCH_SPARK_MASTER", "local[2]")
    spark = (
        SparkSession.builder.master(master)
        .config("spark.jars", jar)
        .config("spark.driver.memory", "6g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", PARTS)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.timestampType", "TIMESTAMP_NTZ")
        .config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    with firearrow.connect(url) as connection:
        run(spark, connection, url, Path(folder))
    spark.stop()


def run(spark: SparkSession, connection: firearrow.Connection, url: str, folder: Path) -> None:
    login, _, place = url.removeprefix("firebird://").rpartition("@")
    user, password = login.split(":")
    # Each has its usual way to say which wire encryption is meant: none.
    jdbc = f"jdbc:firebird://{place.partition('?')[0]}?wireCrypt=DISABLED&encoding=UTF8"
    count, highest = connection.execute(f"SELECT COUNT(*), MAX(id) FROM {TABLE}").fetchone()
    connection.commit()

    def ours(table: str = TABLE) -> DataFrame:
        reader = spark.read.format("firebird").option("url", url).option("dbtable", table)
        return reader.option("wire_crypt", "disabled").option("numPartitions", PARTS).load()

    def theirs(table: str = TABLE, last: int = highest) -> DataFrame:
        options = {
            "url": jdbc,
            "user": user,
            "password": password,
            "driver": "org.firebirdsql.jdbc.FBDriver",
            "dbtable": table,
            "partitionColumn": "ID",
            "lowerBound": "0",
            "upperBound": str(last),
            "numPartitions": str(PARTS),
            "fetchsize": "10000",
            "preferTimestampNTZ": "true",
        }
        return spark.read.format("jdbc").options(**options).load()

    expected = told(ours())
    if expected[0] != count:
        raise Wrong(f"{expected[0]} of {count} rows")
    different = [pair for pair in zip(expected, told(theirs()), strict=True) if pair[0] != pair[1]]
    if different:
        raise Wrong(f"values differ: {different}")

    def check(driver: str, found: tuple[Any, ...]) -> None:
        if found != expected:
            raise Wrong(f"{driver} has read other values")

    expected = largest(ours())
    samples = measure.measure(
        f"read: {count:,} rows of 22 columns, the largest value of each",
        {OURS: lambda: largest(ours()), JDBC: lambda: largest(theirs())},
        check,
        count,
    )
    notes = disagreement(spark, connection, ours, theirs)

    rows = ours().repartition(PARTS).persist()
    rows.count()
    sums = connection.execute(SUMS.format(TABLE)).fetchone()
    connection.commit()

    def empty() -> None:
        columns = ", ".join(
            f'"{name}" "{domain}"'
            for name, domain in connection.execute(
                "SELECT TRIM(rdb$field_name), TRIM(rdb$field_source) FROM rdb$relation_fields "
                f"WHERE rdb$relation_name = '{TABLE}' ORDER BY rdb$field_position"
            ).fetchall()
        )
        connection.commit()
        connection.execute(f"RECREATE TABLE {TARGET} ({columns})")
        connection.commit()

    def write_ours() -> None:
        writer = rows.write.format("firebird").mode("append").option("url", url).option("dbtable", TARGET)
        writer.option("wire_crypt", "disabled").save()

    def write_theirs() -> None:
        rows.write.format("jdbc").mode("append").options(
            url=jdbc, user=user, password=password, driver="org.firebirdsql.jdbc.FBDriver", dbtable=TARGET, batchsize="10000"
        ).save()

    def check_written(driver: str, result: object) -> None:
        found = connection.execute(SUMS.format(TARGET)).fetchone()
        connection.commit()
        if found != sums:
            raise Wrong(f"{driver} has written {found}, not {sums}")
        empty()

    empty()
    samples += measure.measure(
        f"write: {count:,} rows of 22 columns",
        {OURS: write_ours, JDBC: write_theirs},
        check_written,
        count,
    )
    connection.execute(f"DROP TABLE {TARGET}")
    connection.commit()
    about = measure.environment(str(connection.info["engine_version"]))
    about["spark"] = f"{spark.version}, {spark.sparkContext.master}, {PARTS} partitions"
    measure.write(folder, about, samples, notes)


def told(frame: DataFrame) -> tuple[Any, ...]:
    """Aggregates of every column: what is there, and a sum over all values."""
    wanted = [F.count("*")]
    for field in frame.schema:
        column, kind = F.col(field.name), field.dataType.simpleString()
        wanted.append(F.count(column))
        if kind == "string":
            wanted.append(F.sum(F.crc32(F.encode(column, "UTF-8"))))
        elif kind == "boolean":
            wanted.append(F.sum(column.cast("int")))
        elif kind in ("float", "double"):
            # The sum of floats depends on their order.
            wanted.append(F.sum(F.xxhash64(column.cast("double")) % 1_000_003))
        elif kind == "date":
            wanted.append(F.sum(F.unix_date(column)))
        elif kind.startswith("timestamp"):
            wanted.append(F.sum(F.unix_micros(column.cast("timestamp")) % 1_000_000_007))
        else:
            wanted.append(F.sum(column.cast("decimal(38,8)") % 1_000_003))
    return tuple(frame.agg(*wanted).first())


def largest(frame: DataFrame) -> tuple[Any, ...]:
    """The largest value of every column: cheap, so that reading is what takes the time."""
    return tuple(frame.agg(F.count("*"), *(F.max(name) for name in frame.columns)).first())


def disagreement(spark: SparkSession, connection: firearrow.Connection, ours: Any, theirs: Any) -> list[str]:
    """Whether sums over all partitions are right while others move an amount between the first and the last row."""
    connection.execute("RECREATE TABLE BENCH_SPARK_MOVING (id INTEGER NOT NULL PRIMARY KEY, amount INTEGER, pad CHAR(200))")
    connection.commit()
    connection.executemany("INSERT INTO BENCH_SPARK_MOVING VALUES (?, 1, '')", [(n,) for n in range(1, 200_001)])
    connection.commit()
    done = threading.Event()

    def move() -> None:
        with firearrow.connect(sys.argv[1], autocommit=True) as other:
            while not done.is_set():
                other.execute(
                    "EXECUTE BLOCK AS BEGIN UPDATE BENCH_SPARK_MOVING SET amount = amount - 1 WHERE id = 1; "
                    "UPDATE BENCH_SPARK_MOVING SET amount = amount + 1 WHERE id = 200000; END"
                )

    moving = threading.Thread(target=move)
    moving.start()
    wrong = {OURS: 0, JDBC: 0}
    try:
        for _ in range(10):
            for driver, frame in (
                (OURS, ours("BENCH_SPARK_MOVING")),
                (JDBC, theirs("BENCH_SPARK_MOVING", 200_000)),
            ):
                wrong[driver] += frame.agg(F.sum("AMOUNT")).first()[0] != 200_000
    finally:
        done.set()
        moving.join()
    connection.execute("DROP TABLE BENCH_SPARK_MOVING")
    connection.commit()
    if wrong[OURS]:
        raise Wrong(f"{OURS} has read partitions of different moments")
    return [
        f"{measure.FIGURE}sums over all partitions that were wrong while rows changed, of 10: {wrong[JDBC]} with {JDBC}, 0 with {OURS}"
    ]


if __name__ == "__main__":
    main()

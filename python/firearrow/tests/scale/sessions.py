"""Spark's sessions."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, DataFrameWriter, SparkSession


def session(master: str = "local[2]", **settings: object) -> SparkSession:
    """A session; the one that there was is stopped."""
    if (old := SparkSession.getActiveSession()) is not None:
        old.stop()
    builder = SparkSession.builder.master(master).appName("firearrow's tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": 2,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "OFF",
        "spark.ui.showConsoleProgress": "false",
        **settings,
    }.items():
        builder = builder.config(name, str(value))
    return builder.getOrCreate()


def load(spark: SparkSession, database: str, **options: object) -> DataFrame:
    """What the data source reads with these options."""
    reader = spark.read.format("firebird").option("url", database)
    for name, value in options.items():
        reader = reader.option(name, value)
    return reader.load()


def writing(
    frame: DataFrame, database: str, table: str, mode: str = "append", **options: Any
) -> DataFrameWriter:
    """A frame's writer into a table."""
    writer = frame.write.format("firebird").mode(mode).option("url", database).option("dbtable", table)
    for name, value in options.items():
        writer = writer.option(name, value)
    return writer

"""Spark's sessions."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark
from processes import until
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


@contextmanager
def cluster(*hosts: str) -> Iterator[str]:
    """The address of a cluster with a worker on each of these hosts: a task never runs twice at a time on one of them."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    master = f"spark://127.0.0.1:{port}"
    with ExitStack() as stack:

        def start(host: str, kind: str, *arguments: str) -> None:
            command = [str(program), f"org.apache.spark.deploy.{kind}", "--host", host, "--webui-port", "0"]
            process = subprocess.Popen(
                [*command, *arguments],
                env={**os.environ, "SPARK_LOCAL_IP": host},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)

        start("127.0.0.1", "master.Master", "--port", str(port))
        until(lambda: _listens(port), 60)
        for host in hosts:
            start(host, "worker.Worker", "--cores", "2", "--memory", "1g", master)
        yield master


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


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

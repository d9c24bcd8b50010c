"""What is in the database after executors, drivers and connections were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest
from conftest import one
from processes import running, until
from proxy import Proxy
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sessions import cluster, session, writing
from test_spark_writing import SUMS, keyed, rows  # noqa: F401 # a fixture

import firearrow

BEFORE = (10, sum(range(10)), Decimal("50.00"))
AFTER = (4010, sum(range(10)) + sum(range(100, 4100)), Decimal("4050.00"))


def slow(spark: SparkSession, seconds: float = 0.3) -> object:
    """4,000 rows, of which each task delivers some, and waits."""

    def wait(batches: object) -> object:
        for batch in batches:
            for start in range(0, batch.num_rows, 100):
                time.sleep(seconds)
                yield batch.slice(start, 100)

    return rows(spark, 100, 4100, 4).mapInArrow(wait, "id long, amount decimal(12,2), name string")


@pytest.fixture(params=["append", "overwrite"])
def mode(request: pytest.FixtureRequest) -> str:
    """How rows are written."""
    return str(request.param)


def nothing_left(connection: firearrow.Connection) -> None:
    """No process, no transaction in limbo, and no table of a job."""
    until(lambda: not running("firearrow._jobs.keeper") and not running("firearrow._jobs.coordinator"), 90)
    assert connection.limbo_transactions() == []
    assert [found.name for found in connection.catalog.tables() if "STAGE" in found.name] == []


def test_executors_are_killed(database: str, connection: firearrow.Connection, keyed: str, mode: str) -> None:  # noqa: F811
    """Their tasks run again elsewhere; each row is there once."""
    spark = session(
        "local-cluster[2,1,1024]", **{"spark.executor.memory": "512m", "spark.driver.host": "127.0.0.1"}
    )
    killed: list[int] = []

    import threading

    def kill() -> None:
        until(lambda: running("firearrow._jobs.keeper"), 90)
        time.sleep(1)
        executors = running("CoarseGrainedExecutorBackend")
        os.kill(executors[0], signal.SIGKILL)
        killed.append(executors[0])

    killing = threading.Thread(target=kill)
    killing.start()
    try:
        writing(slow(spark), database, keyed, mode).save()
    finally:
        killing.join()
        spark.stop()
    assert killed
    expected = AFTER if mode == "append" else (4000, sum(range(100, 4100)), Decimal("4000.00"))
    assert one(connection, SUMS.format(keyed)) == expected
    nothing_left(connection)


def test_speculation(database: str, connection: firearrow.Connection, table: str, tmp_path: Path) -> None:
    """Tasks that run twice write once, into a table without a key, too."""
    connection.execute(f"CREATE TABLE {table} (id BIGINT, amount NUMERIC(12,2), name VARCHAR(20))")
    connection.commit()

    def wait(batches: object) -> object:
        from pyspark import TaskContext

        context = TaskContext.get()
        (tmp_path / f"{context.partitionId()} {context.attemptNumber()}").touch()
        for batch in batches:
            # The first attempt of one task takes longer than a second one.
            time.sleep(20 if context.partitionId() == 3 and context.attemptNumber() == 0 else 0.5)
            yield batch

    with cluster("127.0.0.2", "127.0.0.3") as master:
        spark = session(
            master,
            **{
                "spark.executor.memory": "512m",
                "spark.executor.cores": 2,
                "spark.cores.max": 4,
                "spark.driver.host": "127.0.0.1",
                "spark.scheduler.minRegisteredResourcesRatio": "1.0",
                "spark.speculation": "true",
                "spark.speculation.interval": "100ms",
                "spark.speculation.multiplier": "1.1",
                "spark.speculation.quantile": "0.3",
                "spark.speculation.minTaskRuntime": "100ms",
            },
        )
        frame = rows(spark, 100, 4100, 4).mapInArrow(wait, "id long, amount decimal(12,2), name string")
        writing(frame, database, table).save()
        spark.stop()
    assert (tmp_path / "3 1").exists(), "no task ran twice"
    assert one(connection, SUMS.format(table)) == (4000, sum(range(100, 4100)), Decimal("4000.00"))
    nothing_left(connection)


DRIVER = """
import sys, time
sys.path[:0] = [{scale!r}, {tests!r}]
from sessions import session, writing
from test_spark_faults import slow
spark = session()
print("begun", flush=True)
writing(slow(spark), {database!r}, {table!r}, {mode!r}).save()
print("saved", flush=True)
"""


def test_the_driver_is_killed(database: str, connection: firearrow.Connection, keyed: str, mode: str) -> None:  # noqa: F811
    """Nothing of its job remains, although its tasks had written a part."""
    here = Path(__file__).parent
    program = DRIVER.format(
        tests=str(here.parent), scale=str(here), database=database, table=keyed, mode=mode
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        assert "begun" in driver.stdout.readline()
        until(lambda: running("firearrow._jobs.keeper"), 90)
        time.sleep(2)
        for process in running("org.apache.spark.deploy.SparkSubmit"):
            if f"\nPPid:\t{driver.pid}\n" in Path(f"/proc/{process}/status").read_text():
                os.kill(process, signal.SIGKILL)
        driver.kill()
    nothing_left(connection)
    assert one(connection, SUMS.format(keyed)) == BEFORE


def test_connections_are_lost(database: str, connection: firearrow.Connection, keyed: str, mode: str) -> None:  # noqa: F811
    """As when the server is restarted: the job fails, and nothing of it remains."""
    import threading

    spark = session()
    with Proxy(database) as proxy:

        def drop() -> None:
            until(lambda: running("firearrow._jobs.keeper"), 90)
            time.sleep(2)
            proxy.drop()

        dropping = threading.Thread(target=drop)
        dropping.start()
        with pytest.raises(Exception, match=r"firearrow\.\w*Error"):
            writing(slow(spark), proxy.url, keyed, mode).save()
        dropping.join()
        spark.stop()
        nothing_left(connection)
    assert one(connection, SUMS.format(keyed)) == BEFORE


def test_a_job_is_cancelled(database: str, connection: firearrow.Connection, keyed: str, mode: str) -> None:  # noqa: F811
    """Ctrl-C in a notebook."""
    import threading

    spark = session()

    def cancel() -> None:
        until(lambda: running("firearrow._jobs.keeper"), 90)
        time.sleep(1)
        spark.sparkContext.cancelAllJobs()

    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    with pytest.raises(Exception, match=r"[Cc]ancel"):
        writing(slow(spark), database, keyed, mode).save()
    cancelling.join()
    spark.stop()
    nothing_left(connection)
    assert one(connection, SUMS.format(keyed)) == BEFORE


def test_sums_of_slow_frames(database: str) -> None:
    """What the faults are measured by."""
    spark = session()
    found = slow(spark, 0).agg(F.count("*"), F.sum("id"), F.sum("amount")).first()
    assert tuple(found) == (4000, sum(range(100, 4100)), Decimal("4000.00"))
    spark.stop()

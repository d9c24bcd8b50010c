"""Ray Data reads and writes tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pytest
from conftest import ROWS, one

import firearrow

# Otherwise each task prints its progress.
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
ray = pytest.importorskip("ray")

from firearrow.ray import read_firebird, write_firebird  # noqa: E402 # after the setting

SUM = ROWS * (ROWS - 1) // 2


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": os.environ["PYTHONPATH"]}},
    )
    yield
    ray.shutdown()


def test_one_snapshot(database: str, connection: firearrow.Connection, large: str, version: int) -> None:
    """All tasks and all executions of a dataset see the same rows."""
    dataset = read_firebird(database, f"SELECT id, name, amount FROM {large}", parts=4)
    assert dataset.count() == ROWS
    assert pa.decimal128(9, 2) in dataset.schema().types
    if version >= 4:
        connection.execute(f"DELETE FROM {large} WHERE MOD(id, 2) = 0")
        connection.commit()
        assert dataset.sum("ID") == SUM
    assert read_firebird(database, f"SELECT id FROM {large} WHERE id < ?", (100,)).count() == (
        50 if version >= 4 else 100
    )


def test_write(database: str, connection: firearrow.Connection, large: str, table: str) -> None:
    """Rows of all tasks appear at once, in a table that is made, replaced and updated."""
    dataset = read_firebird(database, f"SELECT id, name, amount FROM {large}", parts=4)
    copy = f"C_{table}"
    write_firebird(dataset, database, copy, text=100)
    found = f"SELECT COUNT(*), SUM(id), SUM(amount) FROM {copy}"
    assert one(connection, found) == (ROWS, SUM, Decimal(ROWS))
    few = ray.data.from_arrow(
        pa.table(
            {
                "ID": pa.array([1, ROWS], pa.int32()),
                "NAME": ["a", "b"],
                "AMOUNT": pa.array([5, 5], pa.decimal128(9, 2)),
            }
        )
    )
    write_firebird(few, database, copy, mode="upsert", key=["ID"])
    assert one(connection, found) == (ROWS + 1, SUM + ROWS, Decimal(ROWS + 9))
    write_firebird(few, database, copy, mode="overwrite")
    assert one(connection, found) == (2, ROWS + 1, Decimal(10))


def test_failing_tasks(database: str, connection: firearrow.Connection, large: str) -> None:
    """Nothing is written."""
    dataset = ray.data.range(1000, override_num_blocks=4).rename_columns({"id": "ID"})
    with pytest.raises(Exception, match="violation of PRIMARY"):
        write_firebird(dataset, database, large)

    def fail(batch: pa.Table) -> pa.Table:
        if 999 in batch["ID"].to_pylist():
            raise ValueError("as planned")
        return pa.table({"ID": pa.array([value.as_py() + 10**6 for value in batch["ID"]], pa.int32())})

    with pytest.raises(Exception, match="as planned"):
        write_firebird(dataset.map_batches(fail, batch_format="pyarrow", batch_size=100), database, large)
    assert one(connection, f"SELECT COUNT(*) FROM {large}") == ROWS

"""Dask reads tables."""

from __future__ import annotations

import gc
import time
from decimal import Decimal

import dask
import pytest
from conftest import ROWS, one

import firearrow
from firearrow.dask import read_firebird

SUM = ROWS * (ROWS - 1) // 2


def test_one_snapshot(database: str, connection: firearrow.Connection, large: str, version: int) -> None:
    """All partitions and all computations of a frame see the same rows."""
    frame = read_firebird(database, f"SELECT id, name, amount FROM {large}", parts=4)
    assert frame.npartitions == (4 if version >= 4 else 1)
    assert [str(kind) for kind in frame.dtypes] == [
        "int32[pyarrow]",
        "string[pyarrow]",
        "decimal128(9, 2)[pyarrow]",
    ]
    if version >= 4:
        connection.execute(f"DELETE FROM {large} WHERE MOD(id, 2) = 0")
        connection.commit()
    for scheduler in ("threads", "processes"):
        with dask.config.set(scheduler=scheduler):
            assert (len(frame), int(frame.ID.sum().compute())) == (ROWS, SUM)
    sums = frame.assign(part=frame.ID < 100).groupby("part").AMOUNT.sum().compute()
    assert sorted(sums) == [Decimal(100), Decimal(ROWS - 100)]
    whole = frame.compute()
    assert whole.ID.tolist() == list(range(ROWS))
    assert whole.NAME.iloc[-1] == f"{ROWS - 1:090}"


def test_the_snapshot_ends_with_the_frame(
    database: str, connection: firearrow.Connection, large: str
) -> None:
    """Nobody holds it any longer."""
    frame = read_firebird(database, f"SELECT id FROM {large}", parts=4)
    sql = "SELECT COUNT(*) FROM mon$attachments WHERE mon$remote_process = 'firearrow: a part for Dask'"
    assert len(frame) == ROWS
    del frame
    end = time.monotonic() + 30
    while one(connection, sql):
        gc.collect()
        assert time.monotonic() < end
        time.sleep(0.2)


def test_parameters_and_queries(database: str, large: str) -> None:
    """Queries with parameters, and those that cannot be divided."""
    frame = read_firebird(database, f"SELECT id FROM {large} WHERE id < ?", (100,))
    assert int(frame.ID.sum().compute()) == sum(range(100))
    frame = read_firebird(database, f"SELECT MOD(id, 5) part, COUNT(*) n FROM {large} GROUP BY 1", parts=4)
    assert frame.npartitions == 1
    assert int(frame.N.sum().compute()) == ROWS


def test_no_rows(database: str, large: str) -> None:
    """An empty frame has its columns."""
    frame = read_firebird(database, f"SELECT id, amount FROM {large} WHERE id < 0").compute()
    assert list(frame.columns) == ["ID", "AMOUNT"]
    assert len(frame) == 0


def test_errors(database: str, large: str) -> None:
    """Wrong queries fail at once."""
    with pytest.raises(firearrow.ProgrammingError, match="NOWHERE"):
        read_firebird(database, "SELECT * FROM nowhere")
    with pytest.raises(firearrow.InterfaceError, match="wire_crypto"):
        read_firebird(database, f"SELECT * FROM {large}", wire_crypto=1)

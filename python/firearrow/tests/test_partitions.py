"""Queries in parts, read by threads and processes from one snapshot."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pyarrow as pa
import pytest

import firearrow

ROWS = 60_000

# Reads the parts whose descriptors come as pickles in hexadecimal, one on each line.
READER = """if True:
    import pickle, sys, firearrow
    for line in sys.stdin:
        with firearrow.read_partition(pickle.loads(bytes.fromhex(line)), sys.argv[1]) as part:
            table = part.fetch_arrow_table()
        print(table.num_rows, sum(table["ID"].to_pylist()))
"""


@pytest.fixture
def large(connection: firearrow.Connection, table: str) -> str:
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER NOT NULL, text VARCHAR(100) NOT NULL, price NUMERIC(9,2))"
    )
    connection.commit()
    rows = pa.table(
        {
            "ID": pa.array(range(ROWS), pa.int32()),
            "TEXT": [f"{n:090}" for n in range(ROWS)],
            "PRICE": pa.array([Decimal(n % 100) / 4 for n in range(ROWS)], pa.decimal128(9, 2)),
        }
    )
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    connection.commit()
    return table


def test_parts_in_threads(
    database: str, connection: firearrow.Connection, other: firearrow.Connection, large: str, version: int
) -> None:
    """All parts together are the result, in the order of the table, as of the moment of the division."""
    with connection.read_partitions(f"SELECT id, text, price FROM {large}", 3) as parts:
        if version < 4:
            assert len(parts) == 1
            assert parts.why_plain
        else:
            assert len(parts) == 3
            assert parts.why_plain is None
        other.execute(f"DELETE FROM {large} WHERE MOD(id, 2) = 0")
        if version >= 4:
            # Before, the part has no snapshot to share.
            other.commit()

        def read(descriptor: bytes) -> pa.Table:
            with firearrow.read_partition(descriptor, database) as part:
                return part.fetch_arrow_table()

        with ThreadPoolExecutor(3) as pool:
            tables = list(pool.map(read, parts))
    whole = pa.concat_tables(tables)
    assert whole["ID"].to_pylist() == list(range(ROWS))
    assert whole["TEXT"][-1].as_py() == f"{ROWS - 1:090}"
    assert whole["PRICE"].to_pylist()[5] == Decimal("1.25")
    other.rollback()


def test_parts_in_processes(
    database: str, connection: firearrow.Connection, is_wire: bool, large: str
) -> None:
    """Descriptors can be pickled, and read elsewhere."""
    if not is_wire:
        pytest.skip("the embedded engine keeps its database open in one process")
    with connection.read_partitions(f"SELECT id FROM {large}", 2) as parts:
        lines = "".join(f"{pickle.dumps(descriptor).hex()}\n" for descriptor in parts.descriptors)
        command = [sys.executable, "-W", "error", "-c", READER, database]
        done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(found) == len(parts)
    assert sum(rows for rows, _ in found) == ROWS
    assert sum(total for _, total in found) == ROWS * (ROWS - 1) // 2


def test_parts_of_one_connection(connection: firearrow.Connection, large: str) -> None:
    """It can read them itself, with parameters."""
    query = f"SELECT id FROM {large} WHERE id >= :least AND price >= 0"
    with connection.read_partitions(query, 2, parameters={"least": 100}) as parts:
        found = [connection.read_partition(descriptor).fetch_polars() for descriptor in parts]
        assert [number for part in found for number in part["ID"]] == list(range(100, ROWS))
        batches = connection.read_partition(parts.descriptors[0]).fetch_arrow_batches()
        assert batches.read_next_batch().num_rows > 0
        batches.close()


def test_small_queries_are_one_part(connection: firearrow.Connection) -> None:
    with connection.read_partitions("SELECT COUNT(*) AS n FROM RDB$DATABASE", n=4) as parts:
        assert len(parts) == 1
        assert parts.why_plain
        assert connection.read_partition(next(iter(parts))).fetch_arrow_table().to_pylist() == [{"N": 1}]


def test_parts_that_cannot_be_read(
    database: str, connection: firearrow.Connection, large: str, version: int
) -> None:
    """The errors say why, and what to do."""
    parts = connection.read_partitions(f"SELECT id FROM {large}", 2)
    right = parts.descriptors[0]
    for wrong in (b"", b"x" * 100, right[:-3], right[:40] + bytes([right[40] ^ 1]) + right[41:]):
        with pytest.raises(firearrow.Error, match="partition"):
            firearrow.read_partition(wrong, database)
    parts.close()
    parts.close()
    if version >= 4:
        with pytest.raises(firearrow.InterfaceError, match="has ended and taken its snapshot"):
            firearrow.read_partition(parts.descriptors[0], database)
    for sql in (f"DELETE FROM {large}", "SELECT"):
        with pytest.raises(firearrow.Error):
            connection.read_partitions(sql)
    with pytest.raises(firearrow.ProgrammingError, match="out of range"):
        connection.read_partitions(f"SELECT id FROM {large}", -1)
    assert connection.execute(f"SELECT COUNT(*) FROM {large}").fetchone() == (ROWS,)


def test_parts_end_with_their_connection(database: str, connection: firearrow.Connection, large: str) -> None:
    parts = connection.read_partitions(f"SELECT * FROM {large}", 2)
    reading = firearrow.connect(database)
    batches = reading.read_partition(parts.descriptors[0]).fetch_arrow_batches()
    batches.read_next_batch()
    reading.close()
    with pytest.raises(OSError, match="closed before all rows were read"):
        batches.read_all()
    connection.close()
    parts.close()
    with pytest.raises(firearrow.InterfaceError, match="connection is closed"):
        connection.read_partitions(f"SELECT * FROM {large}")

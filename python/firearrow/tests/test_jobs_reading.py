"""One query read by several processes, whose snapshot another one holds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest
from processes import children, kill, until

import firearrow
from firearrow._jobs import anchor, reading
from firearrow._jobs.place import Place
from firearrow._jobs.snapshot import Holding, hold

ROWS = 30_000
HOLDER = "firearrow._jobs.snapshot"


@pytest.fixture(autouse=True)
def processes(is_wire: bool) -> Iterator[None]:
    """Other processes reach a server only; none is left behind."""
    if not is_wire:
        pytest.skip("the embedded engine keeps its database open in one process")
    yield
    kill(HOLDER)


@pytest.fixture
def large(connection: firearrow.Connection, table: str) -> str:
    """A table of several hundred pages."""
    connection.execute(f"CREATE TABLE {table} (id INTEGER NOT NULL PRIMARY KEY, text VARCHAR(100))")
    connection.commit()
    rows = pa.table({"ID": pa.array(range(ROWS), pa.int32()), "TEXT": [f"{n:090}" for n in range(ROWS)]})
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    connection.commit()
    return table


def holding(database: str, sql: str, *, idle: float = 60, who: anchor.Anchor | None = None) -> Holding:
    """What asks for four parts."""
    return Holding(
        place=Place(database),
        query=reading.Query(sql),
        parts=4,
        without_snapshot=False,
        name="firearrow: the snapshot of a test",
        readers=f"firearrow: a part of a test {os.getpid()}",
        idle=idle,
        anchor=who or anchor.this_process(),
    )


def rows(asked: Holding, division: reading.Division) -> list[int]:
    """The ids of all parts."""
    found: list[int] = []
    for part in division.parts:
        for batch in reading.read(asked.place, part, asked.readers):
            found += batch["ID"].to_pylist()
    return found


def test_parts_see_one_moment(database: str, other: firearrow.Connection, large: str, version: int) -> None:
    """Whatever changes after the division is not seen, by whoever reads; with one part, its beginning counts."""
    asked = holding(database, f"SELECT id, text FROM {large}")
    division = hold(asked)
    assert len(division.parts) == (4 if version >= 4 else 1)
    until(lambda: len(children(HOLDER)) == (1 if version >= 4 else 0))
    other.execute(f"DELETE FROM {large} WHERE id >= 10000")
    other.commit()
    expected = ROWS if version >= 4 else 10000
    assert rows(asked, division) == list(range(expected))
    # Again: the snapshot is still held.
    assert len(rows(asked, division)) == expected


def test_it_ends_when_nobody_reads(
    database: str, connection: firearrow.Connection, large: str, version: int
) -> None:
    """Then parts cannot be read, rather than those of another moment; while somebody reads it does not end."""
    if version < 4:
        pytest.skip("Firebird 3 has no snapshots to hold")
    asked = holding(database, f"SELECT id, text FROM {large}", idle=1.5)
    division = hold(asked)
    opened = reading.read(asked.place, division.parts[0], asked.readers)
    next(opened)
    time.sleep(4)
    assert children(HOLDER)
    assert len(rows(asked, division)) == ROWS
    opened.close()
    until(lambda: not children(HOLDER))
    with pytest.raises(firearrow.Error, match=r"taken its snapshot \d+ along.*; load it again"):
        next(reading.read(asked.place, division.parts[1], asked.readers, remedy="load it again"))
    left = connection.execute(
        "SELECT COUNT(*) FROM mon$attachments WHERE mon$remote_process LIKE 'firearrow: the snapshot of a test%'"
    )
    assert left.fetchone()[0] == 0


def test_it_ends_with_the_program(database: str, large: str, version: int) -> None:
    """A driver that was killed takes the snapshot along."""
    if version < 4:
        pytest.skip("Firebird 3 has no snapshots to hold")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as program:
        who = anchor.of(program.pid)
        hold(holding(database, f"SELECT id FROM {large}", who=who))
        assert children(HOLDER)
        program.kill()
        program.wait()
        until(lambda: not children(HOLDER))


def test_what_cannot_be_divided(database: str, large: str) -> None:
    """It is one part, which needs nobody to hold anything."""
    asked = holding(database, f"SELECT MAX(id) id FROM {large}")
    division = hold(asked)
    assert len(division.parts) == 1
    assert division.why_plain
    assert rows(asked, division) == [ROWS - 1]
    until(lambda: not children(HOLDER))


def test_wrong_query(database: str) -> None:
    """The error comes to whoever has asked."""
    with pytest.raises(firearrow.ProgrammingError, match="NO_SUCH_TABLE"):
        hold(holding(database, "SELECT * FROM no_such_table"))
    with pytest.raises(firearrow.OperationalError):
        hold(holding(database + "_nowhere", "SELECT 1 FROM rdb$database"))
    until(lambda: not children(HOLDER))


def test_damaged_descriptors(database: str, large: str, version: int) -> None:
    """Parts that somebody has changed are refused."""
    if version < 4:
        pytest.skip("Firebird 3 has no snapshots to hold")
    asked = holding(database, f"SELECT id, text FROM {large}")
    division = hold(asked)
    descriptor = division.parts[0].descriptor
    assert descriptor is not None
    for place in range(0, len(descriptor), 7):
        changed = bytearray(descriptor)
        changed[place] ^= 1
        part = reading.Part(division.parts[0].query, bytes(changed))
        with pytest.raises(firearrow.InterfaceError):
            next(reading.read(asked.place, part, asked.readers))


def test_altered_table(database: str, connection: firearrow.Connection, large: str, version: int) -> None:
    """Rows and columns are those that were planned, although the table has more columns and fewer rows."""
    asked = holding(database, f"SELECT id, text FROM {large}")
    division = hold(asked)
    connection.execute(f"ALTER TABLE {large} ADD more INTEGER")
    connection.commit()
    connection.execute(f"DELETE FROM {large} WHERE id > 5")
    connection.commit()
    assert rows(asked, division) == list(range(ROWS if version >= 4 else 6))
    (first, *_) = reading.read(asked.place, division.parts[0], asked.readers)
    assert first.schema.names == ["ID", "TEXT"]


def test_dropped_table(database: str, connection: firearrow.Connection, large: str, version: int) -> None:
    """Whoever holds the snapshot does not keep others from dropping the table."""
    if version < 4:
        pytest.skip("Firebird 3 has no snapshots to hold")
    asked = holding(database, f"SELECT id, text FROM {large}")
    division = hold(asked)
    with connection.begin(lock_timeout=10) as transaction:
        transaction.execute(f"DROP TABLE {large}")
    with pytest.raises(firearrow.Error, match="not defined|Table unknown"):
        rows(asked, division)


def test_schema(database: str, connection: firearrow.Connection, other: firearrow.Connection) -> None:
    """Columns of a query are known without executing it."""
    found = reading.schema_of(
        Place(database), reading.Query("SELECT 1 / 0 n, CAST('a' AS CHAR(3)) c FROM rdb$database"), "test"
    )
    # A quotient of integers is a BIGINT.
    assert found == pa.schema([("N", pa.int64()), ("C", pa.string())])


def test_session_and_timeout(database: str, connection: firearrow.Connection, version: int) -> None:
    """Each session begins with the statement that was given."""
    sql = "EXECUTE BLOCK AS BEGIN rdb$set_context('USER_SESSION', 'JOB', 'begun'); END"
    place = Place(database, {}, sql, 5.0 if version >= 4 else None)
    part = reading.Part(reading.Query("SELECT rdb$get_context('USER_SESSION', 'JOB') j FROM rdb$database"))
    (batch,) = reading.read(place, part, "firearrow: a test")
    assert batch["J"].to_pylist() == ["begun"]
    assert "masterkey" not in repr(Place("firebird://host/shop", {"password": "masterkey"}))


def test_places_are_those_of_connect() -> None:
    """What connect takes, a job takes as well; a database without a server is refused before anything begins."""
    Place("/shop.fdb", {"host": "server", "port": 3051, "read_only": True, "max_result_rows": 5})
    for path in ("/shop.fdb", "/shop.fdb?user=a&password=sekret", "./shop.fdb;user=a;password=sekret"):
        with pytest.raises(firearrow.InterfaceError) as caught:
            Place(path)
        assert "sekret" not in str(caught.value)
    with pytest.raises(firearrow.InterfaceError, match="names none: write firebird://host/path"):
        Place("/shop.fdb")

"""``Cursor.ingest`` of the blocking package; test_aio_ingest.py has the asynchronous one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from frames import expected, numbers, pyarrow, rows

import firearrow


def test_modes(connection: firearrow.Connection, other: firearrow.Connection, table: str) -> None:
    cursor = connection.cursor()
    with pytest.raises(firearrow.ProgrammingError, match=table):
        cursor.ingest(numbers(1), table)
    with pytest.raises(firearrow.ProgrammingError, match="mode"):
        cursor.ingest(numbers(1), table, mode="other")
    with pytest.raises(firearrow.ProgrammingError, match="Arrow"):
        cursor.ingest([(1, "a")], table)
    assert cursor.ingest(numbers(10), table, mode="create", text=20) == 10
    assert cursor.rowcount == 10
    assert rows(other, table) == []
    connection.commit()
    assert rows(other, table) == expected(10)
    with pytest.raises(firearrow.ProgrammingError, match="exists"):
        cursor.ingest(numbers(10), table, mode="create")
    assert cursor.ingest(numbers(6, 10), table, mode="create_append") == 6
    # The transaction has begun.
    with pytest.raises(firearrow.ProgrammingError, match="commit or roll back"):
        cursor.ingest(numbers(1), table, mode="replace")
    connection.commit()
    assert rows(other, table) == expected(16)
    batches = (numbers(1_000, start).to_batches()[0] for start in range(0, 20_000, 1_000))
    reader = pyarrow.RecordBatchReader.from_batches(numbers(0).schema, batches)
    assert cursor.ingest(reader, table, mode="replace") == 20_000
    connection.commit()
    assert rows(other, table) == expected(20_000)
    with connection.begin() as transaction:
        assert transaction.cursor().ingest(numbers(1, 20_000), table) == 1
    assert rows(other, table)[-1] == (20_000, "n20000")


def test_names_in_other_letter_case(
    connection: firearrow.Connection, other: firearrow.Connection, table: str
) -> None:
    """As with ADBC and `firearrow load`: what is there is found, a new table is called what it is called."""
    cursor = connection.cursor()
    cursor.execute(f"CREATE TABLE {table} (ID INTEGER, NAME VARCHAR(20))")
    connection.commit()
    lower = numbers(3).rename_columns(["id", "name"])
    for mode in ("append", "create_append"):
        assert cursor.ingest(lower, table.lower(), mode=mode) == 3
        connection.commit()
    assert rows(other, table)[::2] == expected(3)
    other.commit()
    assert cursor.ingest(lower, table.lower(), mode="replace") == 3
    connection.commit()
    assert rows(other, table) == expected(3)
    other.commit()
    # Both are there now, and the exact name wins.
    assert cursor.ingest(numbers(1), table.lower(), mode="create") == 1
    connection.commit()
    assert cursor.ingest(numbers(2), table.lower()) == 2
    connection.commit()
    assert other.execute(f'SELECT COUNT(*) FROM "{table.lower()}"').fetchone() == (3,)
    other.commit()
    for name in (f"{table}_aB", f"{table}_Ab"):
        cursor.ingest(numbers(1), name, mode="create")
        connection.commit()
    with pytest.raises(firearrow.ProgrammingError, match="could be any of"):
        cursor.ingest(numbers(1), f"{table}_ab")
    connection.rollback()
    for name in (f"{table}_aB", f"{table}_Ab", table.lower()):
        cursor.execute(f'DROP TABLE "{name}"')
    connection.commit()


def test_texts_have_room(connection: firearrow.Connection, table: str) -> None:
    """In a new table, for twice the longest of all batches; what nobody knows is a BLOB."""

    def made(data: Any) -> list[tuple[str, int | None]]:
        connection.cursor().ingest(data, table, mode="replace")
        connection.commit()
        found = [(column.type_name, column.characters) for column in connection.catalog.columns(table)]
        connection.commit()
        return found

    short = pyarrow.table({"A": ["x"], "B": pyarrow.array(["y" * 100]).dictionary_encode()})
    assert made(short) == [("VARCHAR", 64), ("VARCHAR", 256)]
    longer = pyarrow.table({"A": ["x" * 70], "B": pyarrow.array(["y"]).dictionary_encode()})
    assert made(pyarrow.concat_tables([short, longer])) == [("VARCHAR", 256), ("VARCHAR", 256)]
    # The short one keeps its room beside one that no row has room for.
    wide = pyarrow.table({"A": ["größe"], "B": ["ü" * 9000]})
    assert [name for name, _ in made(wide)] == ["VARCHAR", "BLOB SUB_TYPE TEXT"]
    assert made(wide)[0] == ("VARCHAR", 64)
    assert [name for name, _ in made(short.slice(0, 0))] == ["BLOB SUB_TYPE TEXT"] * 2
    # Slices of much data are little.
    much = pyarrow.table({"A": ["x" * 1000] * 100_000})
    assert made(much.slice(70_000, 10)) == [("VARCHAR", 2048)]
    assert made(much) == [("BLOB SUB_TYPE TEXT", None)]


def test_rows_of_the_same_connection(database: str, other: firearrow.Connection, table: str) -> None:
    with firearrow.connect(database, autocommit=True) as connection:
        source = connection.execute("SELECT rdb$type AS id, TRIM(rdb$type_name) AS name FROM rdb$types")
        count = connection.cursor().ingest(source, table, mode="replace")
        assert count > 100
        assert len(rows(other, table)) == count


def test_autocommit(database: str, other: firearrow.Connection, table: str) -> None:
    with firearrow.connect(database, autocommit=True) as connection:
        assert connection.cursor().ingest(numbers(3), table, mode="replace") == 3
        assert rows(other, table) == expected(3)
        # From a cursor of the same connection.
        source = connection.execute("SELECT rdb$type AS id, TRIM(rdb$type_name) AS name FROM rdb$types")
        count = connection.cursor().ingest(source, table)
        assert count > 100
        assert len(rows(other, table)) == 3 + count


def test_rows_that_fail(database: str, other: firearrow.Connection, table: str) -> None:
    def failing() -> Iterator[Any]:
        yield numbers(10, 100).to_batches()[0]
        raise ZeroDivisionError("of the reader")

    other.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name VARCHAR(10))")
    other.commit()
    other.execute(f"INSERT INTO {table} VALUES (4, 'x')")
    other.commit()
    with firearrow.connect(database, autocommit=True) as connection:
        with pytest.raises(firearrow.IntegrityError) as raised:
            connection.cursor().ingest(numbers(10), table)
        assert raised.value.row == 4
        reader = pyarrow.RecordBatchReader.from_batches(numbers(0).schema, failing())
        with pytest.raises(firearrow.Error, match="of the reader"):
            connection.cursor().ingest(reader, table)
    assert rows(other, table) == [(4, "x")]

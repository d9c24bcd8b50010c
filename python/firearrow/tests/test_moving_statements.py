"""firebird-driver's usage guide with firearrow: statements, cursors, rows, errors."""

from __future__ import annotations

import pytest
from statements import stored

import firearrow


def test_executing_sql_statements(connection: firearrow.Connection, languages: str) -> None:
    cursor = connection.cursor()
    select = f"SELECT name, year_released FROM {languages} ORDER BY year_released"
    cursor.execute(select)
    assert cursor.fetchall() == [("C", 1972), ("Python", 1991)]
    cursor.execute(select)
    assert [name for name, _ in cursor] == ["C", "Python"]
    # execute returns the cursor.
    assert [row[1] for row in cursor.execute(select)] == [1972, 1991]


def test_a_table_printer(connection: firearrow.Connection, languages: str) -> None:
    cursor = connection.execute(f"SELECT * FROM {languages} ORDER BY year_released")
    assert cursor.description is not None
    # display_size is None but for text, where firebird-driver has a number for each type.
    widths = [column.display_size or 11 for column in cursor.description]
    head = "".join(column.name.ljust(width) for column, width in zip(cursor.description, widths, strict=True))
    lines = [
        "".join(str(value).ljust(width) for value, width in zip(row, widths, strict=True)) for row in cursor
    ]
    assert head == "NAME".ljust(20) + "YEAR_RELEASED"
    assert [line.split() for line in lines] == [["C", "1972"], ["Python", "1991"]]


def test_inserting_many_rows(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    cursor = connection.cursor()
    cursor.executemany(
        f"INSERT INTO {languages} (name, year_released) VALUES (?, ?)", [("Lisp", 1958), ("Dylan", 1995)]
    )
    assert cursor.rowcount == 2
    assert len(stored(other, languages)) == 2
    connection.commit()
    assert stored(other, languages) == [("C", 1972), ("Dylan", 1995), ("Lisp", 1958), ("Python", 1991)]


def test_execute_immediate(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    """There is no other method for statements without rows."""
    cursor = connection.execute(f"CREATE INDEX {languages}_I ON {languages} (name)")
    assert cursor.description is None and cursor.rowcount == -1
    connection.commit()
    assert f"{languages}_I" in [index.name for index in other.catalog.indexes(languages)]


def test_fetching_data_from_the_server(connection: firearrow.Connection, languages: str) -> None:
    cursor = connection.cursor()
    assert cursor.arraysize == 100
    cursor.execute(f"SELECT name FROM {languages} ORDER BY name")
    assert cursor.rowcount == -1
    assert cursor.fetchone() == ("C",)
    assert cursor.fetchmany(5) == [("Python",)]
    assert cursor.fetchone() is None and cursor.fetchmany(5) == []
    assert cursor.rowcount == 2


def test_scrollable_cursors(connection: firearrow.Connection, languages: str) -> None:
    """``scroll`` says which row comes next."""
    with connection.cursor(scrollable=True) as cursor:
        cursor.execute(f"SELECT name FROM {languages} ORDER BY name")
        cursor.scroll(1, "absolute")  # fetch_last
        assert cursor.fetchone() == ("Python",)
        cursor.scroll(-2)  # fetch_prior
        assert cursor.fetchone() == ("C",)
        assert cursor.fetchone() == ("Python",)  # fetch_next
        with pytest.raises(IndexError):
            cursor.scroll(5)
    # Or the server positions.
    found = connection.execute(f"SELECT name FROM {languages} ORDER BY name OFFSET ? ROWS", (1,)).fetchall()
    assert found == [("Python",)]


def test_parameterized_statements(
    connection: firearrow.Connection, other: firearrow.Connection, table: str
) -> None:
    connection.execute(f"CREATE TABLE {table} (a VARCHAR(20), b INTEGER, c DOUBLE PRECISION)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", ["aardvark", 1, 0.1])
    connection.execute(f"INSERT INTO {table} VALUES (:a, :b, :c)", {"a": "zymurgy", "b": 2, "c": None})
    connection.commit()
    assert stored(other, table) == [("aardvark", 1, 0.1), ("zymurgy", 2, None)]
    found = other.execute(f"SELECT b FROM {table} WHERE a = ?", ("zymurgy",)).fetchall()
    assert found == [(2,)]


def test_prepared_statements(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str, is_wire: bool
) -> None:
    """A statement that is executed again stays prepared."""
    cursor = connection.cursor()
    insert = f"INSERT INTO {languages} VALUES (?, ?)"
    trips = []
    for number in range(4):
        cursor.execute(insert, (f"L{number}", number))
        trips.append(cursor.wire_stats["round_trips"])
    connection.commit()
    assert len(stored(other, languages)) == 6
    if is_wire:
        assert trips[-1] == 1
    cursor.execute(f"SELECT name FROM {languages} WHERE year_released = 1")
    assert cursor.plan is not None and languages in cursor.plan


def test_named_cursors(connection: firearrow.Connection, other: firearrow.Connection, languages: str) -> None:
    """WHERE CURRENT OF needs a cursor's name, which cannot be set. A row's key does the same."""
    rows = connection.execute(f"SELECT RDB$DB_KEY, name FROM {languages} FOR UPDATE WITH LOCK").fetchall()
    for key, name in rows:
        changed = connection.execute(
            f"UPDATE {languages} SET name = ? WHERE RDB$DB_KEY = ?", (name.upper(), key)
        )
        assert changed.rowcount == 1
    connection.commit()
    assert stored(other, languages, "name") == [("C",), ("PYTHON",)]
    with pytest.raises(firearrow.ProgrammingError, match="not found in the current context"):
        connection.execute(f"DELETE FROM {languages} WHERE CURRENT OF scroller")


def test_working_with_stored_procedures(connection: firearrow.Connection, table: str) -> None:
    connection.execute(
        f"CREATE PROCEDURE P{table} (a INTEGER, b INTEGER) RETURNS (plus INTEGER, minus INTEGER) AS "
        "BEGIN plus = a + b; minus = a - b; SUSPEND; END"
    )
    connection.commit()
    cursor = connection.cursor()
    # The outputs are returned; there is nothing to fetch.
    assert cursor.callproc(f"P{table}", (5, 3)) == (8, 2)
    assert cursor.fetchone() is None
    assert cursor.execute(f"EXECUTE PROCEDURE P{table} (5, 3)").fetchone() == (8, 2)
    assert cursor.execute(f"SELECT plus FROM P{table} (?, ?)", (1, 1)).fetchall() == [(2,)]


def test_compliance(connection: firearrow.Connection, languages: str) -> None:
    cursor = connection.cursor()
    assert cursor.connection is connection
    assert connection.IntegrityError is firearrow.IntegrityError
    assert not hasattr(cursor, "nextset")
    cursor.setinputsizes([20])
    cursor.setoutputsize(1000)
    cursor.execute(f"SELECT name FROM {languages}")
    assert cursor.description is not None
    name, type_code, display_size, internal_size, precision, scale, null_ok = cursor.description[0]
    assert (name, type_code, display_size, internal_size) == ("NAME", "VARCHAR", 20, 80)
    assert (precision, scale, null_ok) == (None, None, True)
    assert type_code == firearrow.STRING
    cursor.execute(f"UPDATE {languages} SET name = 'x'")
    assert cursor.rowcount == 2
    cursor.close()
    # firebird-driver would execute it.
    with pytest.raises(firearrow.InterfaceError, match="closed"):
        cursor.execute("SELECT 1 FROM RDB$DATABASE")


def test_exceptions(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (id INTEGER CONSTRAINT {table}_PK PRIMARY KEY)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1)")
    with pytest.raises(firearrow.IntegrityError) as caught:
        connection.execute(f"INSERT INTO {table} VALUES (1)")
    error = caught.value
    assert (error.sqlstate, error.sqlcode, error.gds_codes[0]) == ("23000", -803, 335544665)
    assert error.constraint == f"{table}_PK"


def test_rows_by_name(connection: firearrow.Connection, languages: str) -> None:
    """In place of fetchonemap, fetchallmap and itermap of fdb, and to_dict of firebird-driver."""
    cursor = connection.cursor(row_factory=firearrow.dict_row)
    cursor.execute(f"SELECT name, year_released FROM {languages} ORDER BY name")
    assert cursor.fetchone() == {"NAME": "C", "YEAR_RELEASED": 1972}
    assert [row["YEAR_RELEASED"] for row in cursor] == [1991]
    named = connection.cursor(row_factory=firearrow.namedtuple_row)
    assert named.execute(f"SELECT name FROM {languages} ORDER BY name").fetchall()[1].name == "Python"

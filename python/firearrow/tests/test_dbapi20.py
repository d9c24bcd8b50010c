"""PEP 249, case by case as in the public compliance suite for DB-API 2.0 modules, ``dbapi20.py``.

Some differ. Its five tests of type objects are ``test_type_objects``; that a second ``close`` fails, which it
has turned off since, is ``test_close_again``: nothing happens. Of the suite itself, four of 35 cases fail:

- ``test_fetchmany`` wants an ``arraysize`` of 1, where 100 saves those who do not know of it many calls;
- ``test_callproc`` wants the inputs back and the outputs as rows; ``callproc`` returns the outputs;
- ``test_nextset`` and ``test_setoutputsize`` are for drivers to write. There is no ``nextset``, since no
  statement of Firebird has several results.

The optional cases of two-phase commit (``dbapi20_tpc.py``) are not here: there are no ``tpc_`` methods.
"""

from __future__ import annotations

import datetime
import time
import warnings
from collections.abc import Iterator

import pytest

import firearrow

SAMPLES = ["Carlton Cold", "Carlton Draft", "Mountain Goat", "Redback", "Victoria Bitter", "XXXX"]


@pytest.fixture
def booze(connection: firearrow.Connection, table: str) -> Iterator[str]:
    """A table with one column of text, which the connection's transaction fills."""
    connection.execute(f"CREATE TABLE {table} (name VARCHAR(20))")
    connection.commit()
    yield table


@pytest.fixture
def filled(connection: firearrow.Connection, booze: str) -> str:
    """That table with the samples."""
    cursor = connection.cursor()
    for sample in SAMPLES:
        cursor.execute(f"INSERT INTO {booze} VALUES (?)", (sample,))
    return booze


def test_connect(database: str) -> None:
    """``connect`` returns a connection."""
    connection = firearrow.connect(database)
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)
    connection.close()


def test_apilevel() -> None:
    """The module says which DB-API it has."""
    assert firearrow.apilevel == "2.0"


def test_threadsafety() -> None:
    """The module says what threads may share: the module and connections."""
    assert firearrow.threadsafety == 2


def test_paramstyle() -> None:
    """The module says how parameters are marked."""
    assert firearrow.paramstyle == "qmark"


def test_exceptions() -> None:
    """The module has the hierarchy of exceptions."""
    assert issubclass(firearrow.Warning, Exception)
    assert issubclass(firearrow.Error, Exception)
    assert issubclass(firearrow.InterfaceError, firearrow.Error)
    assert not issubclass(firearrow.InterfaceError, firearrow.DatabaseError)
    assert issubclass(firearrow.DatabaseError, firearrow.Error)
    for name in (
        "OperationalError",
        "IntegrityError",
        "InternalError",
        "ProgrammingError",
        "NotSupportedError",
        "DataError",
    ):
        assert issubclass(getattr(firearrow, name), firearrow.DatabaseError), name


@pytest.mark.parametrize(
    "name",
    [
        "Warning",
        "Error",
        "InterfaceError",
        "DatabaseError",
        "OperationalError",
        "IntegrityError",
        "InternalError",
        "ProgrammingError",
        "NotSupportedError",
        "DataError",
    ],
)
def test_exceptions_as_connection_attributes(connection: firearrow.Connection, name: str) -> None:
    """Connections have the exceptions as attributes (an optional extension)."""
    assert getattr(connection, name) is getattr(firearrow, name)


def test_commit(connection: firearrow.Connection) -> None:
    """``commit`` works without a transaction."""
    connection.commit()
    connection.commit()
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_rollback(connection: firearrow.Connection, booze: str) -> None:
    """``rollback`` undoes the transaction, and works without one."""
    connection.rollback()
    connection.execute(f"INSERT INTO {booze} VALUES ('x')")
    connection.rollback()
    connection.rollback()
    assert connection.execute(f"SELECT COUNT(*) FROM {booze}").fetchone() == (0,)


def test_cursor(connection: firearrow.Connection) -> None:
    """``cursor`` returns a cursor, which knows its connection."""
    cursor = connection.cursor()
    assert isinstance(cursor, firearrow.Cursor)
    assert cursor.connection is connection


def test_cursor_isolation(connection: firearrow.Connection, booze: str) -> None:
    """Cursors of one connection are not isolated: each sees the other's changes at once."""
    first, second = connection.cursor(), connection.cursor()
    first.execute(f"INSERT INTO {booze} VALUES ('Victoria Bitter')")
    second.execute(f"SELECT name FROM {booze}")
    assert second.fetchall() == [("Victoria Bitter",)]


def test_description(connection: firearrow.Connection, booze: str) -> None:
    """``description`` is None without rows, and otherwise seven items for each column."""
    cursor = connection.cursor()
    assert cursor.description is None
    cursor.execute(f"INSERT INTO {booze} VALUES ('x')")
    assert cursor.description is None, "after a statement without rows"
    cursor.execute(f"SELECT name FROM {booze}")
    assert cursor.description is not None
    assert len(cursor.description) == 1
    assert len(cursor.description[0]) == 7
    assert cursor.description[0][0].lower() == "name"
    assert cursor.description[0][1] == firearrow.STRING
    # It is reset by a statement without rows.
    cursor.execute(f"DELETE FROM {booze}")
    assert cursor.description is None


def test_rowcount(connection: firearrow.Connection, booze: str) -> None:
    """``rowcount`` is -1 before a statement, and afterwards the rows that it changed or returned."""
    cursor = connection.cursor()
    assert cursor.rowcount == -1
    cursor.execute(f"INSERT INTO {booze} VALUES ('a')")
    assert cursor.rowcount == 1
    cursor.execute(f"INSERT INTO {booze} SELECT name || '2' FROM {booze}")
    assert cursor.rowcount == 1
    cursor.execute(f"UPDATE {booze} SET name = name || '!'")
    assert cursor.rowcount == 2
    cursor.execute(f"SELECT name FROM {booze}")
    assert cursor.rowcount == -1, "nobody knows before the last row"
    cursor.fetchall()
    assert cursor.rowcount == 2
    cursor.execute(f"DELETE FROM {booze} WHERE name = 'nobody'")
    assert cursor.rowcount == 0
    cursor.execute(f"CREATE TABLE {booze}x (id INTEGER)")
    assert cursor.rowcount == -1


def test_callproc(connection: firearrow.Connection, table: str) -> None:
    """``callproc`` returns the procedure's outputs, and the inputs if it has none."""
    connection.execute(
        f"CREATE PROCEDURE {table} (word VARCHAR(10)) RETURNS (result VARCHAR(10)) "
        "AS BEGIN result = LOWER(word); END"
    )
    connection.execute(f"CREATE PROCEDURE {table}_quiet (word VARCHAR(10)) AS BEGIN END")
    connection.commit()
    cursor = connection.cursor()
    assert cursor.callproc(table, ["FOO"]) == ("foo",)
    assert cursor.callproc(f"{table}_quiet", ["FOO"]) == ("FOO",)


def test_close(database: str) -> None:
    """A closed connection refuses whatever needs it."""
    connection = firearrow.connect(database)
    cursor = connection.cursor()
    connection.close()
    with pytest.raises(firearrow.Error):
        cursor.execute("SELECT 1 FROM RDB$DATABASE")
    with pytest.raises(firearrow.Error):
        connection.commit()
    with pytest.raises(firearrow.Error):
        connection.rollback()
    with pytest.raises(firearrow.Error):
        connection.cursor()


def test_close_again(database: str) -> None:
    """Closing a connection that is closed does nothing."""
    connection = firearrow.connect(database)
    connection.close()
    connection.close()
    assert connection.closed


def test_execute(connection: firearrow.Connection, booze: str) -> None:
    """``execute`` takes values as they are, with quotes, percent signs and backslashes."""
    cursor = connection.cursor()
    cursor.execute(f"INSERT INTO {booze} VALUES ('Victoria Bitter')")
    assert cursor.rowcount == 1
    cursor.execute(f"INSERT INTO {booze} VALUES (?)", ("Cooper's",))
    cursor.execute(f"INSERT INTO {booze} VALUES (?)", ["100 % \\ \" '"])
    cursor.execute(f"INSERT INTO {booze} VALUES (:beer)", {"beer": "Redback"})
    cursor.execute(f"SELECT name FROM {booze}")
    assert sorted(row[0] for row in cursor.fetchall()) == [
        "100 % \\ \" '",
        "Cooper's",
        "Redback",
        "Victoria Bitter",
    ]


def test_executemany(connection: firearrow.Connection, booze: str) -> None:
    """``executemany`` executes for each row: a sequence of sequences, or of mappings."""
    cursor = connection.cursor()
    cursor.executemany(f"INSERT INTO {booze} VALUES (?)", [("Cooper's",), ["Boag's"]])
    assert cursor.rowcount == 2
    cursor.executemany(f"INSERT INTO {booze} VALUES (:beer)", [{"beer": "Redback"}, {"beer": "XXXX"}])
    assert cursor.rowcount == 2
    assert cursor.description is None
    cursor.execute(f"SELECT name FROM {booze} ORDER BY name")
    assert cursor.fetchall() == [("Boag's",), ("Cooper's",), ("Redback",), ("XXXX",)]


def test_executemany_without_rows(connection: firearrow.Connection, booze: str) -> None:
    """``executemany`` of no rows does nothing."""
    cursor = connection.cursor()
    cursor.executemany(f"INSERT INTO {booze} VALUES (?)", [])
    assert cursor.rowcount in (0, -1)
    assert connection.execute(f"SELECT COUNT(*) FROM {booze}").fetchone() == (0,)


def test_fetchone(connection: firearrow.Connection, booze: str) -> None:
    """``fetchone`` returns a row, None after the last, and refuses if there is no result."""
    cursor = connection.cursor()
    with pytest.raises(firearrow.Error):
        cursor.fetchone()
    cursor.execute(f"SELECT name FROM {booze}")
    assert cursor.fetchone() is None, "a result without rows"
    assert cursor.rowcount == 0
    cursor.execute(f"INSERT INTO {booze} VALUES ('Victoria Bitter')")
    with pytest.raises(firearrow.Error):
        cursor.fetchone()
    cursor.execute(f"SELECT name FROM {booze}")
    row = cursor.fetchone()
    assert isinstance(row, tuple)
    assert row == ("Victoria Bitter",)
    assert cursor.fetchone() is None
    assert cursor.fetchone() is None
    assert cursor.rowcount == 1


def test_fetchmany(connection: firearrow.Connection, filled: str) -> None:
    """``fetchmany`` returns up to so many rows, by default ``arraysize``, and nothing after the last."""
    cursor = connection.cursor()
    with pytest.raises(firearrow.Error):
        cursor.fetchmany(4)
    query = f"SELECT name FROM {filled} ORDER BY name"
    cursor.arraysize = 1
    cursor.execute(query)
    assert cursor.fetchmany() == [(SAMPLES[0],)]
    cursor.arraysize = 10
    assert cursor.fetchmany(3) == [(name,) for name in SAMPLES[1:4]]
    assert cursor.fetchmany(4) == [(name,) for name in SAMPLES[4:]]
    assert cursor.fetchmany(4) == []
    assert cursor.rowcount == 6
    cursor.arraysize = 4
    cursor.execute(query)
    assert [len(cursor.fetchmany()) for _ in range(3)] == [4, 2, 0]
    cursor.arraysize = 6
    cursor.execute(query)
    assert [row[0] for row in cursor.fetchmany()] == SAMPLES
    cursor.execute(f"SELECT name FROM {filled} WHERE 1 = 0")
    assert cursor.fetchmany() == []
    assert cursor.rowcount == 0


def test_fetchall(connection: firearrow.Connection, filled: str) -> None:
    """``fetchall`` returns the rows that are left, and an empty list after the last."""
    cursor = connection.cursor()
    with pytest.raises(firearrow.Error):
        cursor.fetchall()
    cursor.execute(f"UPDATE {filled} SET name = name")
    with pytest.raises(firearrow.Error):
        cursor.fetchall()
    cursor.execute(f"SELECT name FROM {filled} ORDER BY name")
    assert [row[0] for row in cursor.fetchall()] == SAMPLES
    assert cursor.fetchall() == []
    assert cursor.rowcount == 6
    cursor.execute(f"SELECT name FROM {filled} WHERE 1 = 0")
    assert cursor.fetchall() == []


def test_mixed_fetch(connection: firearrow.Connection, filled: str) -> None:
    """The ways of fetching continue where the one before stopped."""
    cursor = connection.cursor()
    cursor.execute(f"SELECT name FROM {filled} ORDER BY name")
    rows = [cursor.fetchone(), *cursor.fetchmany(2), cursor.fetchone(), *cursor.fetchall()]
    assert [row[0] for row in rows] == SAMPLES
    assert cursor.rowcount == 6


def test_iteration(connection: firearrow.Connection, filled: str) -> None:
    """Cursors are iterators (an optional extension)."""
    cursor = connection.execute(f"SELECT name FROM {filled} ORDER BY name")
    assert iter(cursor) is cursor
    assert next(cursor) == (SAMPLES[0],)
    assert [row[0] for row in cursor] == SAMPLES[1:]
    with pytest.raises(StopIteration):
        next(cursor)


def test_nextset(connection: firearrow.Connection) -> None:
    """``nextset`` is left out, as the standard wants it of databases without several results."""
    assert not hasattr(connection.cursor(), "nextset")


def test_arraysize(connection: firearrow.Connection) -> None:
    """Cursors have an ``arraysize`` that can be set."""
    cursor = connection.cursor()
    assert cursor.arraysize >= 1
    cursor.arraysize = 7
    assert cursor.arraysize == 7


def test_setinputsizes(connection: firearrow.Connection, filled: str) -> None:
    """``setinputsizes`` may do nothing, and the cursor works afterwards."""
    cursor = connection.cursor()
    cursor.setinputsizes((25,))
    cursor.execute(f"SELECT COUNT(*) FROM {filled} WHERE name > ?", ("M",))
    assert cursor.fetchone() == (4,)


def test_setoutputsize(connection: firearrow.Connection, filled: str) -> None:
    """``setoutputsize`` may do nothing, with and without a column, and values come whole."""
    cursor = connection.cursor()
    cursor.setoutputsize(1)
    cursor.setoutputsize(2, 0)
    cursor.execute(f"SELECT name FROM {filled} ORDER BY name")
    assert cursor.fetchone() == ("Carlton Cold",)


def test_none(connection: firearrow.Connection, booze: str) -> None:
    """NULL is None in both directions."""
    cursor = connection.cursor()
    cursor.execute(f"INSERT INTO {booze} VALUES (NULL)")
    cursor.execute(f"INSERT INTO {booze} VALUES (?)", (None,))
    assert cursor.execute(f"SELECT name FROM {booze}").fetchall() == [(None,), (None,)]


def test_date(connection: firearrow.Connection) -> None:
    """``Date`` and ``DateFromTicks`` make parameters."""
    day = firearrow.Date(2002, 12, 25)
    ticks = time.mktime((2002, 12, 25, 0, 0, 0, 0, 0, 0))
    assert firearrow.DateFromTicks(ticks) == day
    row = connection.execute("SELECT CAST(? AS DATE) FROM RDB$DATABASE", (day,)).fetchone()
    assert row == (datetime.date(2002, 12, 25),)


def test_time(connection: firearrow.Connection) -> None:
    """``Time`` and ``TimeFromTicks`` make parameters."""
    clock = firearrow.Time(13, 45, 30)
    ticks = time.mktime((2001, 1, 1, 13, 45, 30, 0, 0, 0))
    assert firearrow.TimeFromTicks(ticks) == clock
    row = connection.execute("SELECT CAST(? AS TIME) FROM RDB$DATABASE", (clock,)).fetchone()
    assert row == (datetime.time(13, 45, 30),)


def test_timestamp(connection: firearrow.Connection) -> None:
    """``Timestamp`` and ``TimestampFromTicks`` make parameters."""
    moment = firearrow.Timestamp(2002, 12, 25, 13, 45, 30)
    ticks = time.mktime((2002, 12, 25, 13, 45, 30, 0, 0, 0))
    assert firearrow.TimestampFromTicks(ticks) == moment
    row = connection.execute("SELECT CAST(? AS TIMESTAMP) FROM RDB$DATABASE", (moment,)).fetchone()
    assert row == (datetime.datetime(2002, 12, 25, 13, 45, 30),)


@pytest.mark.parametrize("value", [b"Something", b"", b"\0\xff"])
def test_binary(connection: firearrow.Connection, table: str, value: bytes) -> None:
    """``Binary`` makes parameters."""
    connection.execute(f"CREATE TABLE {table} (data BLOB)")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (?)", (firearrow.Binary(value),))
    assert connection.execute(f"SELECT data FROM {table}").fetchone() == (value,)


def test_type_objects(connection: firearrow.Connection) -> None:
    """Type codes are equal to one of STRING, BINARY, NUMBER, DATETIME and ROWID, and to no other."""
    cursor = connection.execute(
        "SELECT CAST('' AS VARCHAR(5)), CAST('' AS CHAR(5)), CAST('' AS BLOB SUB_TYPE TEXT), "
        "CAST('' AS CHAR(5) CHARACTER SET OCTETS), CAST('' AS BLOB SUB_TYPE BINARY), "
        "CAST(1 AS INTEGER), CAST(1 AS NUMERIC(9,2)), CAST(1 AS DOUBLE PRECISION), TRUE, "
        "CURRENT_DATE, LOCALTIME, LOCALTIMESTAMP, RDB$DB_KEY FROM RDB$DATABASE"
    )
    assert cursor.description is not None
    groups = [firearrow.STRING, firearrow.BINARY, firearrow.NUMBER, firearrow.DATETIME, firearrow.ROWID]
    found = [[group for group in groups if column.type_code == group] for column in cursor.description]
    wanted = [firearrow.STRING] * 3 + [firearrow.BINARY] * 2 + [firearrow.NUMBER] * 4
    wanted += [firearrow.DATETIME] * 3 + [firearrow.BINARY]
    assert found == [[group] for group in wanted]
    assert hash(firearrow.STRING) == hash(firearrow.STRING)
    assert firearrow.STRING != firearrow.NUMBER
    assert firearrow.STRING != 5


def test_autocommit_is_off_at_first(
    connection: firearrow.Connection, other: firearrow.Connection, booze: str
) -> None:
    """A connection begins with autocommit off; closing it without a commit undoes its changes."""
    assert connection.autocommit is False
    connection.execute(f"INSERT INTO {booze} VALUES ('x')")
    assert other.execute(f"SELECT COUNT(*) FROM {booze}").fetchone() == (0,)
    connection.close()
    other.rollback()
    assert other.execute(f"SELECT COUNT(*) FROM {booze}").fetchone() == (0,)


def test_no_warning_is_left(database: str) -> None:
    """A connection that is closed leaves nothing behind to warn of."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        connection = firearrow.connect(database)
        connection.cursor().execute("SELECT 1 FROM RDB$DATABASE")
        connection.close()
        del connection
    assert [str(warning.message) for warning in seen] == []

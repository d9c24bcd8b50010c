"""What the usage guide of firebird-driver documents, done with firearrow; see docs/python-moving.md.

Each test is named after a section of that guide. What firearrow does differently is asserted, too.
"""

from __future__ import annotations

import asyncio
import datetime
import io
import re
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from test_documents import check, prepared

import firearrow
from firearrow import aio


@pytest.fixture
def languages(connection: firearrow.Connection, table: str) -> str:
    """A table with two committed rows."""
    connection.execute(f"CREATE TABLE {table} (name VARCHAR(20), year_released INTEGER)")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", [("C", 1972), ("Python", 1991)])
    connection.commit()
    return table


def stored(other: firearrow.Connection, table: str, columns: str = "*") -> list[tuple[object, ...]]:
    """What a second connection sees, and so what is committed."""
    other.rollback()
    rows: list[tuple[object, ...]] = other.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
    return rows


# Getting started


def test_connecting_to_a_database(database: str, is_wire: bool) -> None:
    with firearrow.connect(database) as connection:
        assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)
    if is_wire:
        with pytest.raises(firearrow.OperationalError) as caught:
            firearrow.connect(database, user="NOBODY", password="wrong")
        assert caught.value.sqlstate == "28000"
    else:
        with firearrow.connect(Path(database)) as connection:
            assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_the_keyword_of_fdb_is_explained(database: str) -> None:
    with pytest.raises(firearrow.InterfaceError, match="first argument"):
        firearrow.connect(dsn=database)


def test_creating_a_database(database: str, table: str) -> None:
    name = database.replace(".fdb", f"-{table}.fdb")
    created = firearrow.create_database(name, page_size=16384, db_charset="UTF8")
    try:
        assert created.info["page_size"] == 16384
        assert created.info["database_charset"] == "UTF8"
    finally:
        created.drop_database()
    assert created.closed
    with pytest.raises(firearrow.OperationalError):
        firearrow.connect(name)


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


# Databases


def test_deleting_databases(database: str, table: str) -> None:
    name = database.replace(".fdb", f"-{table}.fdb")
    firearrow.create_database(name).close()
    firearrow.connect(name).drop_database()
    with pytest.raises(firearrow.OperationalError):
        firearrow.connect(name)


def test_closing_the_connection(database: str, other: firearrow.Connection, languages: str) -> None:
    """close() rolls back, as in firebird-driver; a with block commits, which it does not there."""
    insert = f"INSERT INTO {languages} VALUES ('Oberon', 1987)"
    connection = firearrow.connect(database)
    connection.execute(insert)
    connection.close()
    assert connection.closed
    assert len(stored(other, languages)) == 2
    with firearrow.connect(database) as connection:
        connection.execute(insert)
    assert connection.closed
    assert len(stored(other, languages)) == 3
    with pytest.raises(ZeroDivisionError), firearrow.connect(database) as connection:
        connection.execute(insert)
        raise ZeroDivisionError
    assert len(stored(other, languages)) == 3


def test_getting_information_about_the_connection(connection: firearrow.Connection) -> None:
    assert not connection.closed
    connection.ping()
    assert connection.info["connection_charset"] == "UTF8"
    assert connection.info["dialect"] == 3


def test_getting_information_about_the_database(connection: firearrow.Connection, version: int) -> None:
    info = connection.info
    assert info["page_size"] >= 4096 and info["pages"] > 0
    assert info["read_only"] is False
    assert str(info["engine_version"]).split(".")[0] == str(version)
    # The rest is in the monitoring tables.
    found = connection.cursor(row_factory=firearrow.dict_row).execute("SELECT * FROM MON$DATABASE").fetchone()
    assert found["MON$PAGE_SIZE"] == info["page_size"]
    assert found["MON$OLDEST_TRANSACTION"] <= found["MON$NEXT_TRANSACTION"]
    assert found["MON$SWEEP_INTERVAL"] == 20000
    assert isinstance(found["MON$CREATION_DATE"], datetime.datetime)
    (number,) = connection.execute("SELECT CURRENT_CONNECTION FROM RDB$DATABASE").fetchone()
    assert number == info["attachment"]
    io_of_all = connection.execute(
        "SELECT s.MON$PAGE_READS, s.MON$PAGE_FETCHES FROM MON$DATABASE d "
        "JOIN MON$IO_STATS s ON s.MON$STAT_ID = d.MON$STAT_ID"
    ).fetchone()
    assert io_of_all[1] > 0


# Executing SQL statements


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
    """Cursors go forward. Rows in a list can be visited in any order."""
    cursor = connection.execute(f"SELECT name FROM {languages} ORDER BY name")
    assert not hasattr(cursor, "fetch_prior")
    rows = cursor.fetchall()
    assert (rows[-1], rows[0], rows[1]) == (("Python",), ("C",), ("Python",))
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


# Data handling and conversions


def test_conversion_of_parameters_from_strings(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (i INTEGER, t TIMESTAMP, v VARCHAR(10))")
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", ("123", "yesterday", 456))
    number, moment, text = connection.execute(f"SELECT * FROM {table}").fetchone()
    today = connection.execute("SELECT CURRENT_DATE FROM RDB$DATABASE").fetchone()[0]
    assert (number, text) == (123, "456")
    # Midnight may have come in between.
    assert moment.date() in (today - datetime.timedelta(days=1), today - datetime.timedelta(days=2))


def test_digits_that_do_not_fit_are_refused(connection: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (n NUMERIC(9,2))")
    connection.commit()
    for value in (Decimal("0.005"), "x"):
        with pytest.raises(firearrow.DataError):
            connection.execute(f"INSERT INTO {table} VALUES (?)", (value,))
    connection.execute(f"INSERT INTO {table} VALUES (?)", (Decimal("0.05"),))
    assert connection.execute(f"SELECT n FROM {table}").fetchall() == [(Decimal("0.05"),)]


def test_conversion_from_and_to_unicode(
    connection: firearrow.Connection, other: firearrow.Connection, table: str
) -> None:
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER, w VARCHAR(20) CHARACTER SET WIN1250, "
        "u VARCHAR(20) CHARACTER SET UTF8, o VARCHAR(20) CHARACTER SET OCTETS)"
    )
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1, ?, ?, ?)", ("příliš", "žluťoučký 🐎", b"\x00\xff"))
    connection.commit()
    assert stored(other, table) == [(1, "příliš", "žluťoučký 🐎", b"\x00\xff")]
    with pytest.raises(firearrow.DataError):
        connection.execute(f"INSERT INTO {table} (w) VALUES (?)", ("🐎",))


def test_time_zones(
    connection: firearrow.Connection, other: firearrow.Connection, table: str, version: int
) -> None:
    """zoneinfo and timezone, where firebird-driver needs objects of its own."""
    region = datetime.datetime(2020, 12, 31, 23, 55, 35, 123400, ZoneInfo("Europe/Prague"))
    offset = region.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    if version < 4:
        with pytest.raises(firearrow.ProgrammingError):
            connection.execute(f"CREATE TABLE {table} (t TIMESTAMP WITH TIME ZONE)")
        return
    connection.execute(f"CREATE TABLE {table} (id INTEGER, t TIMESTAMP WITH TIME ZONE)")
    connection.commit()
    connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", [(1, region), (2, offset)])
    connection.commit()
    assert stored(other, table) == [(1, region), (2, offset)]
    ((zone,), (displacement,)) = stored(other, table, "t")[::-1]
    assert isinstance(zone, datetime.datetime) and isinstance(displacement, datetime.datetime)
    assert {str(zone.tzinfo), str(displacement.tzinfo)} == {"Europe/Prague", "UTC+02:00"}


@pytest.fixture
def blobs(connection: firearrow.Connection, table: str) -> str:
    connection.execute(f"CREATE TABLE {table} (id INTEGER, t BLOB SUB_TYPE TEXT, b BLOB)")
    connection.commit()
    return table


def test_materialized_blobs(
    connection: firearrow.Connection, other: firearrow.Connection, blobs: str
) -> None:
    """Values of any length, where firebird-driver returns readers above 64 KB."""
    text, data = "žluť" * 50_000, bytes(range(256)) * 2_000
    connection.execute(f"INSERT INTO {blobs} VALUES (1, ?, ?)", (text, data))
    connection.commit()
    assert stored(other, blobs) == [(1, text, data)]


def test_streamed_blobs(connection: firearrow.Connection, other: firearrow.Connection, blobs: str) -> None:
    data = bytes(range(256)) * 2_000
    # An open file is a value.
    connection.execute(f"INSERT INTO {blobs} VALUES (1, ?, ?)", (io.StringIO("text"), io.BytesIO(data)))
    # In pieces, for what memory should not hold.
    with connection.create_blob() as writer:
        for at in range(0, len(data), 10_000):
            writer.write(data[at : at + 10_000])
    connection.execute(f"INSERT INTO {blobs} (id, b) VALUES (2, ?)", (writer.id,))
    connection.commit()
    assert stored(other, blobs) == [(1, "text", data), (2, None, data)]
    ids = other.execute(f"SELECT b FROM {blobs} ORDER BY id", read={"blobs": "lazy"}).fetchall()
    for (number,) in ids:
        with other.open_blob(number) as reader:
            assert reader.length == len(data)
            assert reader.read(5) == data[:5]
            assert reader.read() == data[5:]


def test_text_blobs_line_by_line(connection: firearrow.Connection, blobs: str) -> None:
    """BlobReader is a raw binary file of Python's: the io module makes text and lines of it."""
    connection.execute(f"INSERT INTO {blobs} (id, t) VALUES (1, ?)", ("first ž\nsecond\nthird",))
    (number,) = connection.execute(f"SELECT t FROM {blobs}", read={"blobs": "lazy"}).fetchone()
    with io.TextIOWrapper(io.BufferedReader(connection.open_blob(number)), "utf-8") as text:
        assert list(text) == ["first ž\n", "second\n", "third"]


def test_arrays(connection: firearrow.Connection, other: firearrow.Connection, table: str) -> None:
    connection.execute(f"CREATE TABLE {table} (a INTEGER[3,4])")
    connection.commit()
    numbers = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]
    connection.execute(f"INSERT INTO {table} VALUES (?)", (numbers,))
    connection.commit()
    other.rollback()
    assert other.execute(f"SELECT a FROM {table}").fetchall() == [(numbers,)]
    with pytest.raises(firearrow.DataError, match="never shorter or longer"):
        connection.execute(f"INSERT INTO {table} VALUES (?)", (numbers[:2],))


# Transaction management


def test_basics_of_transactions(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    insert = f"INSERT INTO {languages} VALUES (?, 0)"
    connection.execute(insert, ("Oz",))
    connection.commit()
    connection.execute(insert, ("Barsoom",))
    connection.rollback()
    connection.execute(insert, ("Pellucidar",))
    connection.close()
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Oz", "Python"]


def test_auto_commit(database: str, other: firearrow.Connection, languages: str) -> None:
    connection = firearrow.connect(database, autocommit=True)
    try:
        connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
        assert len(stored(other, languages)) == 3
        connection.autocommit = False
        connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
        assert len(stored(other, languages)) == 3
    finally:
        connection.close()


def test_transaction_parameters(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    reader = connection.begin(isolation="read_committed_record_version", read_only=True)
    with pytest.raises(firearrow.ProgrammingError):
        reader.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    reader.rollback()
    # Each transaction of a connection begins in the same way.
    other.isolation, other.lock_timeout = "read_committed", 0
    connection.execute(f"UPDATE {languages} SET year_released = 1 WHERE name = 'C'")
    with pytest.raises(firearrow.OperationalError) as caught:
        other.execute(f"UPDATE {languages} SET year_released = 2 WHERE name = 'C'")
    assert caught.value.retryable
    other.rollback()
    connection.rollback()
    other.isolation = None
    # No reservation of tables, but a transaction that locks each table that it touches.
    with connection.begin(isolation="snapshot_table_stability") as alone:
        assert alone.execute(f"SELECT COUNT(*) FROM {languages}").fetchone() == (2,)
        with pytest.raises(firearrow.OperationalError):
            other.execute(f"UPDATE {languages} SET year_released = 2 WHERE name = 'C'")
    other.rollback()


def test_a_refused_isolation_changes_nothing(connection: firearrow.Connection) -> None:
    with pytest.raises(firearrow.ProgrammingError, match="no isolation level"):
        connection.isolation = "no such level"
    assert connection.isolation is None
    assert connection.execute("SELECT 1 FROM RDB$DATABASE").fetchone() == (1,)


def test_getting_information_about_the_transaction(connection: firearrow.Connection) -> None:
    with connection.begin(isolation="read_committed_record_version", lock_timeout=7) as transaction:
        found = transaction.execute(
            "SELECT CURRENT_TRANSACTION, RDB$GET_CONTEXT('SYSTEM', 'ISOLATION_LEVEL'), "
            "RDB$GET_CONTEXT('SYSTEM', 'LOCK_TIMEOUT'), RDB$GET_CONTEXT('SYSTEM', 'READ_ONLY') "
            "FROM RDB$DATABASE"
        ).fetchone()
        assert found == (transaction.number, "READ COMMITTED", "7", "FALSE")


def test_retaining_transactions(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    number = "SELECT CURRENT_TRANSACTION FROM RDB$DATABASE"
    connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    before = connection.execute(number).fetchone()
    rows = connection.execute(f"SELECT name FROM {languages} ORDER BY name")
    assert rows.fetchone() == ("C",)
    connection.commit(retaining=True)
    assert len(stored(other, languages)) == 3
    # The open cursor goes on, and the transaction sees what it saw before.
    assert rows.fetchall() == [("Oz",), ("Python",)]
    other.execute(f"DELETE FROM {languages}")
    other.commit()
    assert len(connection.execute(f"SELECT name FROM {languages}").fetchall()) == 3
    connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
    connection.rollback(retaining=True)
    assert len(connection.execute(f"SELECT name FROM {languages}").fetchall()) == 3
    connection.commit()
    assert connection.execute(number).fetchone() != before
    assert stored(other, languages) == []


def test_retaining_a_transaction_of_its_own(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    with connection.begin() as transaction:
        before = transaction.number
        transaction.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
        transaction.commit(retaining=True)
        # Firebird gives the same snapshot a new number.
        assert transaction.is_open and transaction.number > before
        transaction.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
        transaction.rollback(retaining=True)
        assert transaction.is_open
    assert len(stored(other, languages)) == 3


def test_retaining_in_asyncio(database: str, other: firearrow.Connection, languages: str) -> None:
    async def work() -> None:
        connection = await aio.connect(database)
        try:
            rows = await connection.execute(f"SELECT name FROM {languages} ORDER BY name")
            assert await rows.fetchone() == ("C",)
            await connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
            await connection.commit(retaining=True)
            assert len(stored(other, languages)) == 3
            assert await rows.fetchone() is not None
            await connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
            await connection.rollback(retaining=True)
            transaction = connection.begin()
            await transaction.execute(f"INSERT INTO {languages} VALUES ('Mongo', 0)")
            await transaction.commit(retaining=True)
            await transaction.execute(f"INSERT INTO {languages} VALUES ('Pellucidar', 0)")
            await transaction.rollback(retaining=True)
            assert transaction.is_open
            await transaction.commit()
        finally:
            await connection.close()

    asyncio.run(asyncio.wait_for(work(), 60))
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Mongo", "Oz", "Python"]


def test_savepoints(connection: firearrow.Connection, other: firearrow.Connection, languages: str) -> None:
    """Blocks; names in SQL work as well."""
    insert = f"INSERT INTO {languages} VALUES (?, 0)"
    connection.execute(insert, ("Oz",))
    with pytest.raises(ZeroDivisionError), connection.savepoint():
        connection.execute(insert, ("Barsoom",))
        raise ZeroDivisionError
    connection.execute("SAVEPOINT b")
    connection.execute(insert, ("Pellucidar",))
    connection.execute("ROLLBACK TO SAVEPOINT b")
    connection.commit()
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Oz", "Python"]


def test_multiple_transactions_with_one_connection(connection: firearrow.Connection, languages: str) -> None:
    reader = connection.begin(isolation="read_committed_record_version", read_only=True)
    select = f"SELECT name FROM {languages} WHERE name = ?"
    connection.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    connection.commit()
    assert reader.execute(select, ("Oz",)).fetchall() == [("Oz",)]
    connection.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
    assert reader.execute(select, ("Barsoom",)).fetchall() == []
    reader.commit()


def test_distributed_transactions(connection: firearrow.Connection) -> None:
    """There are none."""
    assert not hasattr(firearrow, "DistributedTransactionManager")
    assert not hasattr(connection.begin(), "prepare")


def test_transaction_context_manager(
    connection: firearrow.Connection, other: firearrow.Connection, languages: str
) -> None:
    with connection.begin() as transaction:
        transaction.execute(f"INSERT INTO {languages} VALUES ('Oz', 0)")
    with pytest.raises(ZeroDivisionError), connection.begin() as transaction:
        transaction.execute(f"INSERT INTO {languages} VALUES ('Barsoom', 0)")
        raise ZeroDivisionError
    assert [name for (name,) in stored(other, languages, "name")] == ["C", "Oz", "Python"]


# Database events


@pytest.fixture
def posting(connection: firearrow.Connection, table: str) -> Iterator[str]:
    """A table that posts an event for each row: its name and the row's number."""
    connection.execute(f"CREATE TABLE {table} (n INTEGER)")
    connection.commit()
    connection.execute(
        f"CREATE TRIGGER {table}_AI FOR {table} AFTER INSERT AS BEGIN POST_EVENT '{table}_' || NEW.n; END"
    )
    connection.commit()
    yield table


def test_one_event_of_another_connection(
    connection: firearrow.Connection, other: firearrow.Connection, posting: str
) -> None:
    def post() -> None:
        other.execute(f"INSERT INTO {posting} VALUES (1)")
        other.commit()

    later = threading.Timer(0.2, post)
    with connection.events(f"{posting}_1") as events:
        later.start()
        assert events.wait(timeout=30) == {f"{posting}_1": 1}
    later.join(30)


def test_many_events(connection: firearrow.Connection, posting: str) -> None:
    """Only what was posted is counted: names without events are missing, not zero."""
    names = [f"{posting}_{number}" for number in range(20)]
    counts: dict[str, int] = {}
    with connection.events(*names) as events:
        connection.executemany(f"INSERT INTO {posting} VALUES (?)", [(1,), (2,), (3,), (1,), (77,)])
        connection.commit()
        end = time.monotonic() + 30
        while sum(counts.values()) < 4 and time.monotonic() < end:
            for name, count in (events.wait(timeout=1) or {}).items():
                counts[name] = counts.get(name, 0) + count
    assert counts == {f"{posting}_1": 2, f"{posting}_2": 1, f"{posting}_3": 1}


def test_flushing_events(connection: firearrow.Connection, posting: str) -> None:
    """There is no flush: reading until nothing comes does it."""
    with connection.events(f"{posting}_1") as events:
        connection.executemany(f"INSERT INTO {posting} VALUES (?)", [(1,), (1,)])
        connection.commit()
        assert events.wait(timeout=30) == {f"{posting}_1": 2}
        while events.wait(timeout=0.2):
            pass
        connection.execute(f"INSERT INTO {posting} VALUES (1)")
        connection.commit()
        assert events.wait(timeout=30) == {f"{posting}_1": 1}


def test_events_in_a_list_are_explained(connection: firearrow.Connection) -> None:
    with pytest.raises(firearrow.InterfaceError, match="names as arguments"):
        connection.events(["a", "b"])  # type: ignore[arg-type]


# Services


def test_users_by_sql(connection: firearrow.Connection, table: str, is_wire: bool) -> None:
    """There is no service manager. Users, the state of the server and settings have statements."""
    if is_wire:
        connection.execute(f"CREATE USER {table} PASSWORD 'x' FIRSTNAME 'Ada'")
        connection.commit()
        try:
            found = connection.execute(
                "SELECT SEC$FIRST_NAME FROM SEC$USERS WHERE SEC$USER_NAME = ? AND SEC$PLUGIN = 'Srp'",
                (table,),
            ).fetchall()
            assert [name.strip() for (name,) in found] == ["Ada"]
        finally:
            connection.execute(f"DROP USER {table}")
            connection.commit()
    attachments = connection.execute("SELECT MON$ATTACHMENT_ID FROM MON$ATTACHMENTS").fetchall()
    assert (connection.info["attachment"],) in attachments


# Compliance with the Python database API


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


# fdb


def test_rows_by_name(connection: firearrow.Connection, languages: str) -> None:
    """In place of fetchonemap, fetchallmap and itermap of fdb, and to_dict of firebird-driver."""
    cursor = connection.cursor(row_factory=firearrow.dict_row)
    cursor.execute(f"SELECT name, year_released FROM {languages} ORDER BY name")
    assert cursor.fetchone() == {"NAME": "C", "YEAR_RELEASED": 1972}
    assert [row["YEAR_RELEASED"] for row in cursor] == [1991]
    named = connection.cursor(row_factory=firearrow.namedtuple_row)
    assert named.execute(f"SELECT name FROM {languages} ORDER BY name").fetchall()[1].name == "Python"


# The page


PAGE = Path(__file__).parents[3] / "docs" / "python-moving.md"


def test_the_examples_of_the_page(database: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    code = "".join(blocks)
    assert code.count("  # -> ") >= 7 and code.count('"shop.fdb"') == 1
    names: dict[str, object] = {"check": check}
    try:
        exec(compile(prepared(code, database), PAGE.name, "exec", dont_inherit=True), names)
    finally:
        left = names.get("connection")
        if isinstance(left, firearrow.Connection):
            left.close()


def test_the_page_covers_what_the_guide_documents() -> None:
    page = PAGE.read_text("utf-8")
    for name in (
        "driver_config", "create_database", "execute_immediate", "callproc", "call_procedure", "prepare",
        "set_cursor_name", "fetch_prior", "stream_blobs", "stream_blob_threshold", "get_timezone", "tpb",
        "TPB", "transaction_manager", "default_tpb", "retaining", "savepoint",
        "DistributedTransactionManager",
        "event_collector", "connect_server", "to_dict", "affected_rows", "is_closed", "ConnectionHook",
        "fetchonemap", "event_conduit", "ConnectionGroup", "db_info", "trans()", "charset",
    ):  # fmt: skip
        assert name in page, name

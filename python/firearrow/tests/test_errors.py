"""Exceptions: their classes, and what they tell."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable

import pytest

import firearrow


@pytest.fixture
def shop(connection: firearrow.Connection, table: str) -> str:
    """Two tables with each kind of constraint."""
    connection.execute(
        f"CREATE TABLE {table} (id INTEGER NOT NULL CONSTRAINT {table}_pk PRIMARY KEY, "
        f"name VARCHAR(5) CONSTRAINT {table}_name UNIQUE, "
        f"price NUMERIC(9,2) CONSTRAINT {table}_price CHECK (price > 0))"
    )
    connection.execute(
        f"CREATE TABLE {table}c (id INTEGER, parent INTEGER CONSTRAINT {table}_fk REFERENCES {table})"
    )
    connection.commit()
    connection.execute(f"INSERT INTO {table} VALUES (1, 'one', 1)")
    connection.commit()
    return table


# Statement, class, SQLSTATE, kind. {0} is the table.
FAILURES: list[tuple[str, type[firearrow.Error], str, str]] = [
    ("SELEC 1", firearrow.ProgrammingError, "42000", "Syntax"),
    ("", firearrow.ProgrammingError, "42000", "Syntax"),
    (";", firearrow.ProgrammingError, "42000", "Syntax"),
    ("SELECT 1 FROM RDB$DATABASE; SELECT 2 FROM RDB$DATABASE", firearrow.ProgrammingError, "42000", "Syntax"),
    ("SELECT * FROM nowhere", firearrow.ProgrammingError, "42S02", "Syntax"),
    ("SELECT nothing FROM RDB$DATABASE", firearrow.ProgrammingError, "42S22", "Syntax"),
    ("SELECT nothing(1) FROM RDB$DATABASE", firearrow.ProgrammingError, "39000", "Syntax"),
    ("EXECUTE PROCEDURE nothing", firearrow.ProgrammingError, "42000", "Syntax"),
    ("INSERT INTO {0} VALUES (1)", firearrow.ProgrammingError, "21S01", "Engine"),
    ("INSERT INTO {0} (id) VALUES (1)", firearrow.IntegrityError, "23000", "Constraint"),
    ("INSERT INTO {0} (id, name) VALUES (2, 'one')", firearrow.IntegrityError, "23000", "Constraint"),
    ("INSERT INTO {0} (name) VALUES ('two')", firearrow.IntegrityError, "23000", "Constraint"),
    ("INSERT INTO {0} (id, price) VALUES (2, 0)", firearrow.IntegrityError, "23000", "Constraint"),
    ("INSERT INTO {0}c (parent) VALUES (9)", firearrow.IntegrityError, "23000", "Constraint"),
    ("INSERT INTO {0} (id, name) VALUES (2, 'too long')", firearrow.DataError, "22001", "Data"),
    ("INSERT INTO {0} (id, price) VALUES (2, 100000000)", firearrow.DataError, "22003", "Data"),
    ("SELECT 1 / 0 FROM RDB$DATABASE", firearrow.DataError, "22012", "Data"),
    ("SELECT CAST('x' AS INTEGER) FROM RDB$DATABASE", firearrow.DataError, "22018", "Data"),
    ("SELECT CAST('2020-02-30' AS DATE) FROM RDB$DATABASE", firearrow.DataError, "22018", "Data"),
    ("CREATE TABLE {0} (id INTEGER)", firearrow.ProgrammingError, "42S01", "Syntax"),
    ("DROP TABLE nowhere", firearrow.ProgrammingError, "42S02", "Syntax"),
]


@pytest.mark.parametrize(("sql", "cls", "sqlstate", "kind"), FAILURES, ids=lambda value: str(value)[:50])
def test_classes(
    connection: firearrow.Connection,
    shop: str,
    sql: str,
    cls: type[firearrow.Error],
    sqlstate: str,
    kind: str,
) -> None:
    """Each failure is of the class that PEP 249 has for it, and the connection goes on."""
    with pytest.raises(firearrow.Error) as caught:
        connection.execute(sql.format(shop)).fetchall()
    error = caught.value
    assert type(error) is cls
    assert error.kind == kind
    assert error.sqlstate == sqlstate
    assert error.gds_codes
    assert all(335544320 <= code < 340000000 for code in error.gds_codes)
    assert len(error.gds_names) == len(error.gds_codes)
    assert all(re.fullmatch("[a-z0-9_]+", name) for name in error.gds_names), error.gds_names
    assert isinstance(error.sqlcode, int)
    assert error.details["sqlstate"] == sqlstate
    assert not error.retryable
    assert connection.execute(f"SELECT COUNT(*) FROM {shop}").fetchone() == (1,)


def test_constraints_have_names(connection: firearrow.Connection, shop: str) -> None:
    """Which one, of which table, and the key that violates it."""
    with pytest.raises(firearrow.IntegrityError) as caught:
        connection.execute(f"INSERT INTO {shop} (id) VALUES (1)")
    assert caught.value.constraint == f"{shop}_PK"
    assert caught.value.table == shop
    assert caught.value.key is not None
    assert '"ID" = 1' in caught.value.key
    with pytest.raises(firearrow.IntegrityError) as caught:
        connection.execute(f"INSERT INTO {shop} (id, price) VALUES (2, -1)")
    assert caught.value.constraint == f"{shop}_PRICE"
    assert caught.value.table == shop
    with pytest.raises(firearrow.IntegrityError) as caught:
        connection.execute(f"INSERT INTO {shop}c (parent) VALUES (9)")
    assert caught.value.constraint == f"{shop}_FK"


@pytest.mark.parametrize(
    ("sql", "line", "column"),
    [
        ("SELECT\n  nothing\nFROM RDB$DATABASE", 2, 3),
        ("SELECT 1\nFROM nowhere", 2, 6),
        ("SELECT 1\n\n  FROMM RDB$DATABASE", 3, 9),
        ("SELECT 1 FROM RDB$DATABASE WHERE (1 = 1", 1, 39),
    ],
)
def test_place_in_the_sql(connection: firearrow.Connection, sql: str, line: int, column: int) -> None:
    """Line and column count from 1."""
    with pytest.raises(firearrow.ProgrammingError) as caught:
        connection.execute(sql)
    assert caught.value.line == line
    assert caught.value.column is not None
    assert abs(caught.value.column - column) <= 1, "versions differ in what they point at"


def test_exceptions_of_the_database(connection: firearrow.Connection, shop: str) -> None:
    """The text of an exception in PSQL arrives, with what it was made of."""
    connection.execute(f"CREATE EXCEPTION {shop}e 'Sorry: @1'")
    connection.commit()
    with pytest.raises(firearrow.DatabaseError, match="Sorry: no more Grüße"):
        connection.execute(f"EXECUTE BLOCK AS BEGIN EXCEPTION {shop}e USING ('no more Grüße'); END")


def test_failures_while_fetching(connection: firearrow.Connection, shop: str) -> None:
    """A row that fails does so where it is fetched, after those before it."""
    connection.executemany(
        f"INSERT INTO {shop} (id, price) VALUES (?, ?)",
        [(number, 2000 - number) for number in range(2, 1000)],
    )
    connection.commit()
    cursor = connection.execute(f"SELECT id, 1 / (700 - id) FROM {shop} ORDER BY id")
    found = []
    with pytest.raises(firearrow.DataError) as caught:
        for row in cursor:
            found.append(row[0])
    assert caught.value.sqlstate == "22012"
    assert found == list(range(1, len(found) + 1))
    assert len(found) < 700
    with pytest.raises(firearrow.ProgrammingError, match="execute the query again"):
        cursor.fetchone()
    assert connection.execute(f"SELECT COUNT(*) FROM {shop}").fetchone() == (999,)


def test_failed_rows_by_number(connection: firearrow.Connection, shop: str) -> None:
    """``executemany`` tells which row failed, and goes on if it is told to."""
    insert = f"INSERT INTO {shop} (id, name) VALUES (?, ?)"
    rows = [(2, "a"), (3, "b"), (1, "c"), (4, "a"), (5, "e")]
    cursor = connection.cursor()
    with pytest.raises(firearrow.IntegrityError) as caught:
        cursor.executemany(insert, rows)
    assert caught.value.row == 2
    assert caught.value.failures[0][0] == 2
    assert caught.value.failures[0][1] is caught.value
    connection.rollback()
    cursor.executemany(insert, rows, on_error="continue")
    assert [row for row, _ in cursor.failures] == [2, 3]
    assert all(type(error) is firearrow.IntegrityError for _, error in cursor.failures)
    assert [error.constraint for _, error in cursor.failures] == [f"{shop}_PK", f"{shop}_NAME"]
    assert cursor.rowcount == 3
    assert connection.execute(f"SELECT id FROM {shop} ORDER BY id").fetchall() == [(1,), (2,), (3,), (5,)]
    cursor.executemany(insert, [(6, "f")])
    assert cursor.failures == []


def test_failed_rows_far_apart(connection: firearrow.Connection, shop: str) -> None:
    """Numbers count across the messages in which rows are sent."""
    rows = [(number, None) for number in range(2, 25_002)]
    for row in (0, 9_999, 10_000, 24_999):
        rows[row] = (1, None)
    cursor = connection.executemany(f"INSERT INTO {shop} (id, name) VALUES (?, ?)", rows, on_error="continue")
    assert [row for row, _ in cursor.failures] == [0, 9_999, 10_000, 24_999]
    assert cursor.rowcount == 24_996
    assert connection.execute(f"SELECT COUNT(*) FROM {shop}").fetchone() == (24_997,)


def test_what_to_do_with_failed_rows(connection: firearrow.Connection, shop: str) -> None:
    with pytest.raises(firearrow.ProgrammingError, match="'raise' or 'continue'"):
        connection.executemany(f"INSERT INTO {shop} (id) VALUES (?)", [(2,)], on_error="ignore")


@pytest.mark.parametrize(
    ("connect", "cls", "words"),
    [
        (lambda: firearrow.connect(), firearrow.InterfaceError, "name a database"),
        (lambda: firearrow.connect("x.fdb", port=5), firearrow.InterfaceError, "a port needs a host"),
        (lambda: firearrow.connect("x.fdb", colour="red"), firearrow.InterfaceError, "colour"),
        (lambda: firearrow.connect("firebird://h/x?colour=red"), firearrow.InterfaceError, "colour"),
        (lambda: firearrow.connect("firebird://h:port/x"), firearrow.InterfaceError, ""),
        (lambda: firearrow.connect("x.fdb", wire_crypt="perhaps"), firearrow.InterfaceError, "wire_crypt"),
        (lambda: firearrow.connect("/nowhere/at/all.fdb"), firearrow.OperationalError, "all.fdb"),
        (
            lambda: firearrow.connect("localhost/1:x", connect_timeout=2, user="a", password="b"),
            firearrow.OperationalError,
            "localhost",
        ),
        (
            lambda: firearrow.connect("nowhere.invalid:x", connect_timeout=5, user="a", password="b"),
            firearrow.OperationalError,
            "nowhere.invalid",
        ),
    ],
)
def test_connecting_fails(
    database: str, connect: Callable[[], object], cls: type[firearrow.Error], words: str
) -> None:
    """Options that are wrong are the program's fault; what cannot be reached is not."""
    if database.startswith("firebird://") and "all.fdb" in words:
        pytest.skip("needs the embedded engine")
    with pytest.raises(cls) as caught:
        connect()
    assert type(caught.value) is cls
    assert words in str(caught.value)


@pytest.mark.parametrize("value", [object(), b"x", [1], float("nan")], ids=lambda value: type(value).__name__)
def test_options_of_the_wrong_class(database: str, value: object) -> None:
    with pytest.raises((TypeError, firearrow.InterfaceError), match="connect_timeout"):
        firearrow.connect(database, connect_timeout=value)


def test_a_wrong_password(database: str, is_wire: bool) -> None:
    """The login fails as an OperationalError, and the text does not have the password."""
    if not is_wire:
        pytest.skip("the embedded engine asks for no password")
    with pytest.raises(firearrow.OperationalError) as caught:
        firearrow.connect(database, password="secret-word")
    assert "secret-word" not in str(caught.value)
    assert caught.value.sqlstate == "28000"


def test_errors_can_be_pickled(connection: firearrow.Connection, shop: str) -> None:
    """What they tell survives on the way to another process."""
    with pytest.raises(firearrow.IntegrityError) as caught:
        connection.execute(f"INSERT INTO {shop} (id) VALUES (1)")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is firearrow.IntegrityError
    assert str(copy) == str(caught.value)
    assert copy.constraint == f"{shop}_PK"
    assert copy.gds_codes == caught.value.gds_codes
    assert copy.sqlstate == "23000"


def test_documented_attributes_exist() -> None:
    """Errors that come from elsewhere have all attributes, too."""
    error = firearrow.Error("x")
    assert str(error) == "x"
    assert error.sqlstate is None
    assert error.gds_codes == ()
    assert error.failures == []
    assert error.details == {}
    assert error.retryable is False

"""Inserts 10,000 rows with executemany and fast_executemany, and compares every cell."""

import datetime
from decimal import Decimal

import pyodbc

ROWS = 10_000

connection = pyodbc.connect("DSN=fb", autocommit=True)
cursor = connection.cursor()
cursor.execute("""CREATE TABLE BULK (
    ID INTEGER, N NUMERIC(18, 2), V VARCHAR(30) CHARACTER SET UTF8, O VARCHAR(7) CHARACTER SET OCTETS, F DOUBLE PRECISION,
    D DATE, TS TIMESTAMP, B BOOLEAN, BT BLOB SUB_TYPE TEXT CHARACTER SET UTF8)""")
INSERT = "INSERT INTO BULK VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"


def row(i):
    return (
        i,
        Decimal(i) / 100,
        None if i % 7 == 0 else f"row {i} é😀" + "ü" * (i % 5),
        bytes([i % 256]) * (i % 8),
        i / 3,
        datetime.date(2000, 1, 1) + datetime.timedelta(i),
        datetime.datetime(2020, 1, 1) + datetime.timedelta(milliseconds=i * 1000 + i % 10),
        i % 2 == 1,
        f"text {i} " * (i % 4),
    )


def stored():
    return [tuple(row) for row in connection.cursor().execute("SELECT * FROM BULK ORDER BY ID")]


cursor.executemany(INSERT, [row(i) for i in range(100)])
assert stored() == [row(i) for i in range(100)]
assert cursor.execute("DELETE FROM BULK").rowcount == 100

cursor.fast_executemany = True
rows = [row(i) for i in range(ROWS)]
cursor.executemany(INSERT, rows)
found = stored()
assert len(found) == ROWS, len(found)
for expected, got in zip(rows, found):
    assert expected == got, (expected, got)

# Arrays of another size, with the kinds of the first row coming late.
cursor.execute("CREATE TABLE LATE (ID INTEGER, V VARCHAR(20))")
for size in [1, 3, 1000, 2]:
    cursor.executemany("INSERT INTO LATE VALUES (?, ?)", [(size, None)] + [(i, str(i)) for i in range(size - 1)])
counts = tuple(connection.execute("SELECT COUNT(*), COUNT(V) FROM LATE").fetchone())
assert counts == (1006, 1002), counts

# A failing row is reported. Those of an array that succeed make pyodbc look into the messages only.
cursor.execute("CREATE TABLE STRICT (ID INTEGER NOT NULL PRIMARY KEY)")
cursor.executemany("INSERT INTO STRICT VALUES (?)", [(1,), (2,), (1,), (3,)])
assert len(cursor.messages) == 1 and "23000" in cursor.messages[0][0], cursor.messages
assert [row.ID for row in cursor.execute("SELECT ID FROM STRICT ORDER BY ID")] == [1, 2, 3]
for fast in [True, False]:
    cursor.fast_executemany = fast
    try:
        cursor.executemany("INSERT INTO STRICT VALUES (?)", [(1,), (2,)])
    except pyodbc.IntegrityError as error:
        assert error.args[0] == "23000", error.args
    else:
        raise AssertionError("duplicates were accepted")
print("ok")

"""Reads and writes with turbodbc."""

import datetime

import turbodbc

options = turbodbc.make_options(
    prefer_unicode=True, autocommit=True, varchar_max_character_limit=1000, limit_varchar_results_to_max=True,
    parameter_sets_to_buffer=1000,
)
connection = turbodbc.connect(dsn="fb", turbodbc_options=options)
cursor = connection.cursor()
cursor.execute("SELECT ID, I16, I32, I64, F64, B, DT, TS, V FROM KINDS ORDER BY ID")
rows = [tuple(row) for row in cursor.fetchall()]
assert rows[0] == (
    1, 7, -70000, 1234567890123, 3.141592653589793, True, datetime.date(2024, 2, 29),
    datetime.datetime(2024, 2, 29, 1, 2, 3, 456700), "Zoë €😀",
), rows[0]
assert [row[3] for row in rows] == [1234567890123, 2**63 - 1, -(2**63), None, 0]
assert [row[8] for row in rows] == ["Zoë €😀", "ß" * 40, " z ", None, ""]
assert rows[3] == (4,) + (None,) * 8

cursor.execute("CREATE TABLE T (ID INTEGER, V VARCHAR(20) CHARACTER SET UTF8, F DOUBLE PRECISION, D DATE)")


def row(i):
    return (i, None if i % 10 == 0 else f"é{i}", i / 3, datetime.date(2000, 1, 1) + datetime.timedelta(i))


written = [row(i) for i in range(5000)]
cursor.executemany("INSERT INTO T VALUES (?, ?, ?, ?)", written)
assert cursor.rowcount == 5000, cursor.rowcount
cursor.execute("SELECT * FROM T ORDER BY ID")
assert [tuple(row) for row in cursor.fetchall()] == written
try:
    cursor.execute("SELEC 1")
except turbodbc.DatabaseError as error:
    assert "42000" in str(error), error
else:
    raise AssertionError("it did not fail")
print("ok")

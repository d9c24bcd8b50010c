"""Copies rows with pyodbc, each value as a parameter, and reads parameters back."""

import datetime
import os
import uuid
from decimal import Decimal

import pyodbc

MAJOR = int(os.environ["FIREBIRD_MAJOR"])

connection = pyodbc.connect("DSN=fb", autocommit=True)
cursor = connection.cursor()
cursor.execute("""CREATE TABLE COPY (
    ID INTEGER, I16 SMALLINT, I32 INTEGER, I64 BIGINT, N9 NUMERIC(9, 2), N18 NUMERIC(18, 4), F32 FLOAT,
    F64 DOUBLE PRECISION, B BOOLEAN, DT DATE, TM TIME, TS TIMESTAMP, C CHAR(5) CHARACTER SET UTF8,
    V VARCHAR(40) CHARACTER SET UTF8, O VARCHAR(4) CHARACTER SET OCTETS, BT BLOB SUB_TYPE TEXT CHARACTER SET UTF8,
    BB BLOB SUB_TYPE BINARY)""")
# pyodbc would send a time without its fraction, so that one travels as text.
source = connection.cursor().execute("""SELECT ID, I16, I32, I64, N9, N18, F32, F64, B, DT, CAST(TM AS VARCHAR(13)), TS,
    C, V, O, BT, BB FROM KINDS ORDER BY ID""")
for row in source:
    cursor.execute(f"INSERT INTO COPY VALUES ({', '.join('?' * 17)})", *row)
    assert cursor.rowcount == 1


def back(sql_type, value):
    return cursor.execute(f"SELECT CAST(? AS {sql_type}) FROM RDB$DATABASE", value).fetchval()


for sql_type, value in [
    ("SMALLINT", -1),
    ("INTEGER", True),
    ("BIGINT", 2**62),
    ("NUMERIC(18, 4)", Decimal("-99999999999999.9999")),
    ("NUMERIC(9, 0)", Decimal("1E+3")),
    ("DOUBLE PRECISION", 1e-300),
    ("DOUBLE PRECISION", -0.1),
    ("FLOAT", 0.25),
    ("BOOLEAN", True),
    ("BOOLEAN", False),
    ("DATE", datetime.date(1858, 11, 17)),
    ("TIME", datetime.time(1, 2, 3)),
    ("TIMESTAMP", datetime.datetime(1900, 1, 1, 0, 0, 0, 100)),
    ("VARCHAR(100) CHARACTER SET UTF8", "'\"?;-- 日本語 😀"),
    ("VARCHAR(100) CHARACTER SET UTF8", ""),
    ("VARCHAR(8) CHARACTER SET OCTETS", b"\0\1?'\xff"),
    ("BLOB SUB_TYPE TEXT CHARACTER SET UTF8", "é" * 5000),
    ("BLOB SUB_TYPE BINARY", bytes(range(256)) * 40),
    ("INTEGER", None),
    ("VARCHAR(10)", None),
    ("BLOB SUB_TYPE BINARY", None),
]:
    assert back(sql_type, value) == value, (sql_type, value, back(sql_type, value))

# Values travel between kinds.
assert back("INTEGER", "42") == 42
assert back("VARCHAR(20)", 42) == "42"
assert back("VARCHAR(20)", Decimal("4.20")) == "4.20"
assert back("NUMERIC(9, 2)", "4.20") == Decimal("4.20")
assert back("NUMERIC(9, 2)", 1.005e3) == Decimal("1005.00")
# Firebird has four digits of a second; clients send six.
assert back("TIMESTAMP", datetime.datetime(2024, 1, 1, 1, 1, 1, 123456)).microsecond == 123400
# What Firebird keeps in network order is what programs call the same UUID.
value = uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")
text = "SELECT UUID_TO_CHAR(CAST(? AS CHAR(16) CHARACTER SET OCTETS)) FROM RDB$DATABASE"
assert cursor.execute(text, value).fetchval() == str(value).upper()
assert cursor.execute(text, value.bytes).fetchval() == str(value).upper()

# The same statement, with other kinds of values each time.
cursor.execute("CREATE TABLE AGAIN (ID INTEGER, N NUMERIC(18, 4), D DATE, V VARCHAR(20))")
rows = [
    (1, Decimal("1.5"), datetime.date(2024, 1, 1), "first"),
    (2, None, None, None),
    (3, 2, datetime.date(9999, 12, 31), ""),
    (4, Decimal("-0.0001"), None, "the fourth is longer"),
    (5, 2.25, datetime.date(1, 1, 1), "5"),
]
for row in rows:
    cursor.execute("INSERT INTO AGAIN VALUES (?, ?, ?, ?)", row)
assert [tuple(row) for row in cursor.execute("SELECT * FROM AGAIN ORDER BY ID")] == rows

if MAJOR >= 4:
    assert back("NUMERIC(38, 10)", Decimal("1234567890123456789012345678.0123456789")) == Decimal(
        "1234567890123456789012345678.0123456789"
    )
    assert back("INT128", 2**62) == 2**62
    assert back("INT128", Decimal(-(2**127))) == -(2**127)
    assert back("DECFLOAT(34)", "1.234567890123456789E-20") == "1.234567890123456789E-20"
    moment = datetime.datetime(2024, 2, 29, 12, 30)
    assert back("TIMESTAMP WITH TIME ZONE", moment) == moment

# Procedures.
assert tuple(cursor.execute("{call DIVIDE(?, ?)}", 17, 5).fetchone()) == (3, 2)
assert tuple(cursor.execute("EXECUTE PROCEDURE DIVIDE(?, ?)", -17, 5).fetchone()) == (-3, -2)
assert cursor.execute("INSERT INTO PARENT (ID, NAME) VALUES (?, ?) RETURNING ID + 1", 1, "x").fetchval() == 2
print("ok")
